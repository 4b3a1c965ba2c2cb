#!/usr/bin/env python3
"""Makes the golden sets of this folder, run by hand: no test imports torch.

usage: python3 -m venv VENV; VENV/bin/pip install -r tests/golden/perceiver/requirements.txt
       VENV/bin/python tests/golden/perceiver/make.py [SET...]     (then: tests/golden/record tests/golden/perceiver)

README.md says what a set holds. Everything is float64 but Fourier features, which transformers computes in float32;
results are rounded to float32 when written. Two runs write the same bytes.
"""
import json
import math
import os
import sys

import numpy
import torch

sys.path.insert(0, os.path.dirname(__file__))
import network  # noqa: E402
from rounding import Rounding, nearest, spread  # noqa: E402
from sets import SETS, config_of  # noqa: E402

STEPS, DRAWS, MULTIPLE = 3, 32, 3  # the last two as GOLDEN_DRAWS and GOLDEN_MULTIPLE in trainer/cmd/golden.h
# No residual of an L1 loss is nearer to 0: its sign would flip with bf16's errors, which are a tenth of this.
MARGIN = 0.02


# ---- weights and inputs ----


def draw_weights(model, c):
    draw = numpy.random.RandomState(c["seed"])
    weights = {}
    for name, p in sorted(model.named_parameters()):
        normal = draw.standard_normal(tuple(p.shape))
        if "layernorm" in name and name.endswith(".weight"):
            normal = 1 + 0.1 * normal
        else:
            normal = 0.02 * normal * (1 if name.endswith(".bias") else c["weight_scale"])
        weights[name] = torch.from_numpy(normal.astype(numpy.float32))
    return weights


def sizes(c):
    _, frames, height, width = c["output_shape"]
    samples, block = frames * c["audio_samples_per_frame"], c["spatial_downsample"]
    return {"pixels": (frames, height, width), "samples": samples, "audio": samples // c["samples_per_patch"],
            "image": frames * (height // block) * (width // block)}


def draw_batch(c, draw, step):
    n, clips = sizes(c), c["batch_size"]
    frames, height, width = n["pixels"]
    masks = {"audio": numpy.zeros((clips, n["audio"])), "image": numpy.zeros((clips, n["image"]))}
    for mask in masks.values() if step >= c["masked_from_step"] else ():
        mask[:] = draw.uniform(size=mask.shape) < 0.3
    masks["label"] = (numpy.arange(clips) % 2 == step % 2).astype(float)[:, None]
    batch = {"image": draw.uniform(0, 1, (clips, frames, 3, height, width)),
             "audio": draw.uniform(-1, 1, (clips, n["samples"], 1)),
             "label": draw.randint(0, c["num_labels"], clips),
             "out_image": draw.randint(0, frames * height * width, c["image_output_points"]),
             "out_audio": draw.randint(0, n["audio"], c["audio_output_points"]),
             **{f"mask_{name}": mask for name, mask in masks.items()}}
    return {name: torch.from_numpy(value.astype(numpy.int32 if value.dtype.kind == "i" else numpy.float32))
            for name, value in batch.items()}


def targets(c, batch):
    clips = batch["image"].shape[0]
    pixels = batch["image"].double().transpose(1, 2).reshape(clips, 3, -1)
    patches = batch["audio"].double().reshape(clips, -1, c["samples_per_patch"])
    return {"image": pixels[:, :, batch["out_image"].long()].transpose(1, 2),
            "audio": patches[:, batch["out_audio"].long()].reshape(clips, -1)}


def every_point(c, batch):
    """Evaluation: all points are decoded, all labels hidden, nothing else masked."""
    n = sizes(c)
    return {**batch, "out_image": torch.arange(math.prod(n["pixels"])), "out_audio": torch.arange(n["audio"]),
            "mask_audio": torch.zeros_like(batch["mask_audio"]), "mask_image": torch.zeros_like(batch["mask_image"]),
            "mask_label": torch.ones_like(batch["mask_label"])}


# ---- a run ----


class Run:
    """The model with a set's weights, in exact or in rounded arithmetic."""

    def __init__(self, c, weights, operand=None, folded=False):
        self.c, self.weights = c, weights
        self.model = network.Autoencoder(c).double().eval()
        self.rounding = Rounding(self.model, operand, folded) if operand else None
        self.residuals = []  # (batch, modality, residual) of every loss
        self.reset()

    def reset(self):
        self.model.load_state_dict({name: value.double() for name, value in self.weights.items()}, strict=False)

    def is_data(self, batch):
        """1 for the channels of tokens that are operands: data and positions of what is not masked."""
        c, parts = self.c, []
        channels = self.model.perceiver.input_preprocessor.num_channels
        for name, width in (("audio", c["samples_per_patch"] + 1 + 2 * c["audio_num_bands"]),
                            ("image", 3 * c["spatial_downsample"] ** 2 + 3 + 6 * c["image_num_bands"])):
            open_tokens = 1 - batch[f"mask_{name}"].double()
            parts.append(open_tokens[:, :, None] * (torch.arange(channels) < width).double())
        parts.append(torch.zeros(batch["label"].shape[0], 1, channels, dtype=torch.float64))
        return torch.cat(parts, 1)

    def step(self, batch):
        """Forward and backward; the logits, targets, losses; gradients are left in the parameters."""
        for p in self.model.parameters():
            p.grad = torch.zeros_like(p)
        if self.rounding:
            self.rounding.is_data = self.is_data(batch)
            with self.rounding:
                return self.losses(batch)
        return self.losses(batch)

    def losses(self, batch):
        weight, want = self.c["loss_weights"], targets(self.c, batch)
        logits = self.model(batch)
        parts = {name: (logits[name] - want[name]).abs().mean() for name in ("image", "audio")}
        parts["label"] = torch.nn.functional.cross_entropy(logits["label"], batch["label"].long())
        total = sum(weight[name] * part for name, part in parts.items())
        total.backward()
        self.residuals += [(batch, name, (logits[name] - want[name]).detach()) for name in ("image", "audio")]
        return logits, want, {"loss": total.item(), **{name: part.item() for name, part in parts.items()}}

    def first(self, batch):
        acts = {}
        hooks = network.watch(self.model, acts)
        logits, want, losses = self.step(batch)
        for hook in hooks:
            hook.remove()
        outputs = {**acts, **{f"logits.{k}": v.detach() for k, v in logits.items()},
                   **{f"target.{k}": v for k, v in want.items()}}
        return outputs, {name: p.grad.clone() for name, p in self.model.named_parameters()}, losses

    def train(self, batches, how):
        """Three steps; parameters with the optimizer's state, and each step's losses."""
        self.reset()
        named = dict(self.model.named_parameters())
        kinds = {"sgd": lambda: torch.optim.SGD(named.values(), how["lr"], how["momentum"]),
                 "adamw": lambda: torch.optim.AdamW(named.values(), how["lr"], how.get("betas"), how.get("eps"),
                                                    how["weight_decay"])}
        optimizer, log = kinds[how["type"]](), []
        for batch in batches:
            losses = self.step(batch)[2]
            norm = torch.nn.utils.clip_grad_norm_(named.values(), how["max_grad_norm"] or math.inf)
            optimizer.step()
            log.append({**losses, "grad_norm": norm.item()})
        result = {name: p.detach().clone() for name, p in named.items()}
        for name, p in named.items():
            for part, value in optimizer.state[p].items():
                if part != "step":
                    result[f"optim.{part}.{name}"] = value.clone()
        return result, log

    def decode(self, batch):
        self.reset()
        batch = every_point(self.c, batch)
        if not self.rounding:
            return {f"logits.{k}": v.detach() for k, v in self.model(batch).items()}
        self.rounding.is_data = self.is_data(batch)
        with self.rounding:
            return {f"logits.{k}": v.detach() for k, v in self.model(batch).items()}

    def everything(self, batches):
        """All of a set's results by file, and the losses of its runs."""
        self.reset()
        files, logs = {}, {}
        files["outputs"], files["grads"], _ = self.first(batches[0])
        for name, how in self.c["optimizers"].items():
            files[f"after3.{name}"], logs[name] = self.train(batches, how)
        files["eval"] = self.decode(batches[0])
        return files, logs


def settle(c, weights, batches):
    """Moves targets away from the outputs until no residual of any run is within MARGIN of 0."""
    for _ in range(60):
        run = Run(c, weights)
        run.everything(batches)
        near = 0
        for batch, name, residual in run.residuals:
            for at in (residual.abs() < MARGIN).nonzero().tolist():
                near += 1
                push(c, batch, name, at)
        if near == 0:
            return min(residual.abs().min().item() for _, _, residual in run.residuals)
    raise SystemExit("residuals near 0 remain: take another seed")


def push(c, batch, name, at):
    if name == "image":
        clip, point, colour = at
        frames, height, width = sizes(c)["pixels"]
        t, rest = divmod(int(batch["out_image"][point]), height * width)
        value = batch["image"][clip, t, colour]
        where = divmod(rest, width)
    else:
        clip, sample = at
        patch, rest = divmod(sample, c["samples_per_patch"])
        value = batch["audio"][clip, :, 0]
        where = (int(batch["out_audio"][patch]) * c["samples_per_patch"] + rest,)
    value[where] += 0.11 if value[where] < 0.5 else -0.13


# ---- bf16's error ----


def error_of(have, want):
    """Root mean square, largest, and the part of the error that is a common factor."""
    error, square = (have - want).double(), (want.double() ** 2).sum()
    factor = (error * want).sum() / square if square > 0 else torch.zeros(())
    return torch.stack([(error**2).mean().sqrt(), error.abs().max(), factor.abs()])


def error_model(c, weights, batches, exact):
    """Per file [tensors by name, 3]: the largest of each kind of error over all draws and both forms."""
    forms = (False, True) if c["num_cross_attention_heads"] == 1 else (False,)
    worst = {}
    for folded in forms:
        for seed in range(DRAWS):
            files, logs = Run(c, weights, lambda x, s=seed: spread(x, s + 1), folded).everything(batches)
            for file, tensors in files.items():
                one = torch.stack([error_of(tensors[name], exact[0][file][name]) for name in sorted(tensors)])
                worst[file] = torch.maximum(worst.get(file, one), one)
            for name, log in logs.items():
                one = torch.tensor([[abs(step[k] - there[k]) for k in ("loss", "image", "audio", "label", "grad_norm")]
                                    for step, there in zip(log, exact[1][name])], dtype=torch.float64)
                worst[f"losses.{name}"] = torch.maximum(worst.get(f"losses.{name}", one), one)
    return worst, nearest_against(c, weights, batches, exact, forms, worst)


def nearest_against(c, weights, batches, exact, forms, worst):
    """Rounding to nearest, as the trainer rounds: its error as a part of the largest drawn, at worst, and where."""
    answers = []
    for folded in forms:
        files, _ = Run(c, weights, nearest, folded).everything(batches)
        for file, tensors in files.items():
            for i, name in enumerate(sorted(tensors)):
                # As in trainer/cmd/golden_compare.c: a key's bias has no gradient, and AdamW turns one near 0 into a move.
                if name.endswith(".key.bias") or (file == "after3.adamw" and not name.startswith("optim.")):
                    continue
                one = error_of(tensors[name], exact[0][file][name])
                for kind, error, drawn in zip(("rms", "max", "factor"), one, worst[file][i]):
                    if drawn > 1e-9:
                        answers.append(((error / drawn).item(), f"{file} {name} {kind} {'folded' if folded else 'plain'}"))
    answers.sort(reverse=True)
    if answers[0][0] > MULTIPLE:
        raise SystemExit(f"beyond the limit of trainer/cmd/golden.h: {answers[0]}")
    return answers


# ---- files ----


def write_tensors(path, tensors):
    header, body = {}, b""
    for name in sorted(tensors):
        value = tensors[name]
        value = value.numpy().astype("<i4" if value.dtype in (torch.int32, torch.int64) else "<f4")
        header[name] = {"dtype": "I32" if value.dtype.kind == "i" else "F32", "shape": list(value.shape),
                        "data_offsets": [len(body), len(body) + value.nbytes]}
        body += value.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + body)


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(value, indent=1) + "\n")


def make(name):
    c = config_of(name)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    os.makedirs(folder, exist_ok=True)
    draw = numpy.random.RandomState(c["seed"] + 1)
    weights = draw_weights(network.Autoencoder(c), c)
    batches = [draw_batch(c, draw, step) for step in range(STEPS)]
    smallest = settle(c, weights, batches)
    exact = Run(c, weights).everything(batches)
    model, answers = error_model(c, weights, batches, exact)

    write_json(f"{folder}/config.json", c)
    write_tensors(f"{folder}/weights.safetensors", weights)
    write_tensors(f"{folder}/inputs.safetensors",
                  {f"step{i}.{key}": value for i, batch in enumerate(batches) for key, value in batch.items()})
    for file, tensors in exact[0].items():
        write_tensors(f"{folder}/{file}.safetensors", tensors)
    write_tensors(f"{folder}/bf16.safetensors", model)
    write_json(f"{folder}/expected.json", {
        "runs": exact[1], "smallest_residual": smallest,
        "nearest_to_largest_drawn": [[round(ratio, 3), where] for ratio, where in answers[:5]]})
    print(f"{name}: {sum(p.numel() for p in weights.values())} parameters, no residual below {smallest:.3f}, "
          f"rounding to nearest at most {answers[0][0]:.2f} of the errors drawn ({answers[0][1]})")


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for name in sys.argv[1:] or SETS:
        make(name)


if __name__ == "__main__":
    main()
