#!/usr/bin/env python3
"""The PyTorch side of tests/bench/learning: Hugging Face's PerceiverForMultimodalAutoencoding, unchanged.

usage: learning_torch.py train START DATA OUT OPTIONS    trains from a checkpoint's weights; OUT/log.jsonl, OUT/average
       learning_torch.py eval WEIGHTS DATA OPTIONS       prints the figures of the val clips, as JSON
       learning_torch.py decode WEIGHTS DATA OUT CLIP... reconstructions of val clips: OUT/CLIP.rgb

OPTIONS is the JSON file that tests/bench/learning writes. Clips, points, schedule, optimizer and average are those of the
trainer; the code shares nothing with it. Runs on one thread. Needs torch, transformers, safetensors and numpy.
"""
import json
import math
import os
import resource
import struct
import sys
import time

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import PerceiverForMultimodalAutoencoding
from transformers.utils import logging

import learning_draws as draws

LOSS = {"image": 0.03, "audio": 1.0, "label": 1e-4}
HEADER, COUNTS = 128, slice(40, 56)  # trainer/data/shard.h


class Clips:
    """The clips of one split; those of a video lie in one file, mapped."""

    def __init__(self, folder):
        with open(f"{folder}/dataset.json", encoding="utf-8") as file:
            listed = json.load(file)
        shape = listed["clip"]
        self.shape = (shape["frames"], shape["height"], shape["width"])
        self.samples = shape["samples"]
        self.records, self.labels = [], []
        for shard in listed["shards"]:
            data = np.memmap(f"{folder}/{shard['file']}", np.uint8, "r")
            n, stride = struct.unpack("<QQ", bytes(data[COUNTS]))
            assert n == shard["clips"]
            self.records += [data[HEADER + i * stride : HEADER + (i + 1) * stride] for i in range(n)]
            self.labels += [shard["label"]] * n

    def bytes(self, i):
        """[frames][height][width][3]"""
        size = 3 * math.prod(self.shape)
        return np.asarray(self.records[i][:size]).reshape(*self.shape, 3)

    def sound(self, i):
        begin = 3 * math.prod(self.shape)
        return np.frombuffer(self.records[i][begin : begin + 2 * self.samples].tobytes(), "<i2").astype(np.float32) / 32768

    def batch(self, which):
        video = np.stack([self.bytes(i) for i in which]).astype(np.float32) / 255
        return {
            "image": torch.from_numpy(video.transpose(0, 1, 4, 2, 3).copy()),
            "audio": torch.from_numpy(np.stack([self.sound(i) for i in which]))[..., None],
            "label": torch.tensor([self.labels[i] for i in which]),
        }


def forward(model, batch, points):
    label = torch.zeros(len(batch["label"]), model.config.num_labels)
    image, audio = (torch.from_numpy(p) for p in points)
    return model(
        inputs={"image": batch["image"], "audio": batch["audio"], "label": label},
        subsampled_output_points={"image": image, "audio": audio, "label": None},
    ).logits


def errors(model, batch, points):
    """Differences to the clip at the decoded points, the label's cross-entropy, its logits, and the sound itself."""
    n, patch = len(batch["label"]), model.config.samples_per_patch
    logits = forward(model, batch, points)
    pixels = batch["image"].permute(0, 1, 3, 4, 2).reshape(n, -1, 3)[:, torch.from_numpy(points[0])]
    sound = batch["audio"].reshape(n, -1, patch)[:, torch.from_numpy(points[1])].reshape(n, -1)
    return {
        "image": logits["image"].reshape(n, -1, 3) - pixels,
        "audio": logits["audio"].reshape(n, -1) - sound,
        "label": torch.nn.functional.cross_entropy(logits["label"], batch["label"]),
        "logits": logits["label"],
        "sound": sound,
    }


def weighted(e):
    return LOSS["image"] * e["image"].abs().mean() + LOSS["audio"] * e["audio"].abs().mean() + LOSS["label"] * e["label"]


def limits(config):
    return math.prod(config.output_shape[1:]), config.num_frames * config.audio_samples_per_frame // config.samples_per_patch


def decibels(signal, noise):
    return 10 * math.log10(signal / noise)


def evaluate(model, clips, o):
    """The trainer's figures (docs/TRAINING.md) over all clips."""
    sums = dict.fromkeys(("loss", "image", "audio", "label", "mse", "mse_audio", "power", "top1", "top5"), 0.0)
    for number, first in enumerate(range(0, len(clips.labels), o["test_batch_size"])):
        batch = clips.batch(range(first, min(first + o["test_batch_size"], len(clips.labels))))
        points = draws.evaluation_points(o["seed"], number, limits(model.config), (o["image_points"], o["audio_points"]))
        with torch.no_grad():
            e = errors(model, batch, points)
        rank = (e["logits"] > e["logits"].gather(1, batch["label"][:, None])).sum(1)
        means = {
            "loss": weighted(e), "label": e["label"], "image": e["image"].abs().mean(), "audio": e["audio"].abs().mean(),
            "mse": e["image"].square().mean(), "mse_audio": e["audio"].square().mean(), "power": e["sound"].square().mean(),
            "top1": (rank < 1).double().mean(), "top5": (rank < 5).double().mean(),
        }
        for name, value in means.items():
            sums[name] += float(value) * len(batch["label"])
    s = {name: value / len(clips.labels) for name, value in sums.items()}
    mse, mse_audio, power = s.pop("mse"), s.pop("mse_audio"), s.pop("power")
    s.update(psnr=decibels(1, mse), psnr_audio=decibels(1, mse_audio), snr=decibels(power, mse_audio))
    return s


def rate(o, step):
    """Linear warm-up, then a cosine to zero."""
    if step < o["warmup_steps"]:
        return o["lr"] * (step + 1) / o["warmup_steps"]
    return o["lr"] * 0.5 * (1 + math.cos(math.pi * (step - o["warmup_steps"]) / (o["max_steps"] - o["warmup_steps"])))


def average(kept, model, decay, updates):
    """An exponential moving average whose memory grows with the updates at first."""
    d = min(decay, (1 + updates) / (10 + updates)) if updates else 0.0
    with torch.no_grad():
        for name, value in model.state_dict().items():
            kept[name] = value.clone() if d == 0 else kept[name] + (1 - d) * (value - kept[name])


def load(folder):
    logging.set_verbosity_error()
    model, info = PerceiverForMultimodalAutoencoding.from_pretrained(folder, output_loading_info=True)
    assert not any(info[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys")), info
    return model


def with_weights(model, weights, work):
    """work() with these weights in the model's place."""
    mine = {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(weights)
    try:
        return work()
    finally:
        model.load_state_dict(mine)


def seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def train(start, data, out, options):
    with open(options, encoding="utf-8") as file:
        o = json.load(file)
    model, clips, val = load(start), Clips(f"{data}/train"), Clips(f"{data}/val")
    order, kept = draws.Balanced(o["seed"], clips.labels), {}
    optimizer = torch.optim.AdamW(model.parameters(), lr=o["lr"], weight_decay=o["weight_decay"])
    os.makedirs(f"{out}/average", exist_ok=True)
    begin, begin_cpu, in_steps = time.monotonic(), seconds(), 0.0
    with open(f"{out}/log.jsonl", "w", encoding="utf-8", buffering=1) as log:
        for step in range(o["max_steps"]):
            before = seconds()
            batch = clips.batch([order.clip(step * o["batch_size"] + k) for k in range(o["batch_size"])])
            points = draws.training_points(o["seed"], step, limits(model.config), (o["image_points"], o["audio_points"]))
            for group in optimizer.param_groups:
                group["lr"] = rate(o, step)
            optimizer.zero_grad(set_to_none=True)
            loss = weighted(errors(model, batch, points))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), o["grad_clip"])
            optimizer.step()
            average(kept, model, o["ema_decay"], step)
            in_steps += seconds() - before
            done = step + 1
            clock = {"cpu_seconds": seconds() - begin_cpu, "step_cpu_seconds": in_steps, "seconds": time.monotonic() - begin}
            if done % o["log_steps"] == 0:
                log.write(json.dumps({"step": done, "loss": float(loss), **clock}) + "\n")
            if done % o["eval_every"] == 0 or done == o["max_steps"]:
                figures = with_weights(model, kept, lambda: evaluate(model, val, o))
                log.write(json.dumps({"step": done, **{f"val_{k}": v for k, v in figures.items()}, **clock}) + "\n")
                save(model, kept, f"{out}/average")


def save(model, weights, folder):
    model.config.save_pretrained(folder)
    save_file({name: value.contiguous() for name, value in weights.items()}, f"{folder}/new", {"format": "pt"})
    os.replace(f"{folder}/new", f"{folder}/model.safetensors")


def evaluate_weights(weights, data, options):
    with open(options, encoding="utf-8") as file:
        print(json.dumps(evaluate(load(weights), Clips(f"{data}/val"), json.load(file))))


def decode(weights, data, out, *numbers):
    """Whole clips, as bytes."""
    model, clips = load(weights), Clips(f"{data}/val")
    pixels, patches = (np.arange(n) for n in limits(model.config))
    os.makedirs(out, exist_ok=True)
    for number in numbers:
        with torch.no_grad():
            image = forward(model, clips.batch([int(number)]), (pixels, patches))["image"]
        image.clamp(0, 1).mul(255).round().to(torch.uint8).numpy().tofile(f"{out}/{number}.rgb")


def main():
    torch.set_num_threads(1)
    commands = {"train": train, "eval": evaluate_weights, "decode": decode}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])


main()
