#!/usr/bin/env python3
"""One training step of the same network in PyTorch, for tests/bench/trainer and tests/gpu/gpu: prints steps per second.

Not the reference of the numbers (the golden folder is): only the same layers, sizes and optimizer.
usage: trainer_torch.py full|mid STEPS [--batch N] [--device cuda [--bf16] [--compile]]
       trainer_torch.py peak STEPS --device cuda [--bf16]     TFLOP/s of products of 8192 x 8192: the peak that can be had
"""
import argparse
import contextlib
import time

import torch
from torch import nn

CONFIGS = {
    "full": dict(frames=16, side=224, audio=30720, latents=784, width=512, layers=8, out=512, image=512, patches=512),
    "mid": dict(frames=4, side=64, audio=1920, latents=128, width=256, layers=4, out=256, image=256, patches=64),
}
CHANNELS, QUERIES, LABELS = 704, 1026, 700


class Layer(nn.Module):
    """LayerNorm, attention, projection, MLP; keys and values from another array when kv is given."""

    def __init__(self, q, kv, inner, heads, residual):
        super().__init__()
        self.heads, self.residual = heads, residual
        self.norm_q, self.norm_kv = nn.LayerNorm(q), nn.LayerNorm(kv) if kv else None
        self.q, self.k, self.v = nn.Linear(q, inner), nn.Linear(kv or q, inner), nn.Linear(kv or q, inner)
        self.out, self.norm = nn.Linear(inner, q), nn.LayerNorm(q)
        self.mlp = nn.Sequential(nn.Linear(q, q), nn.GELU(), nn.Linear(q, q))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, kv=None):
        a = self.norm_q(x)
        b = self.norm_kv(kv) if kv is not None else a
        q, k, v = self.split(self.q(a)), self.split(self.k(b)), self.split(self.v(b))
        if q.is_cuda:
            o = nn.functional.scaled_dot_product_attention(q, k, v)
        else:
            o = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1) @ v
        o = self.out(o.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1))
        y = x + o if self.residual else o
        return y + self.mlp(self.norm(y))


class Autoencoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.latents = nn.Parameter(0.02 * torch.randn(1, c["latents"], c["width"]))
        self.cross = Layer(c["width"], CHANNELS, CHANNELS, 1, True)
        self.layers = nn.ModuleList(Layer(c["width"], None, c["width"], 8, True) for _ in range(c["layers"]))
        self.decoder = Layer(QUERIES, c["width"], c["width"], 1, False)
        self.final = nn.Linear(QUERIES, c["out"])
        self.heads = nn.ModuleList(nn.Linear(c["out"], n) for n in (16, 3, LABELS))
        self.points = (c["patches"], c["image"], 1)

    def forward(self, tokens, queries):
        x = self.cross(self.latents.expand(tokens.shape[0], -1, -1), tokens)
        for layer in self.layers:
            x = layer(x)
        y = self.final(self.decoder(queries, x))
        return [head(part) for head, part in zip(self.heads, torch.split(y, self.points, 1))]


def timed(device, steps, work):
    """The median of `steps` times, after a first one that warms up."""
    times = []
    for _ in range(steps + 1):
        start = time.monotonic()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.monotonic() - start)
    return sorted(times[1:])[steps // 2]


def peak(o):
    n = 8192
    a, b = (torch.randn(n, n, device=o.device, dtype=torch.bfloat16 if o.bf16 else torch.float32) for _ in range(2))
    return 2 * n ** 3 / timed(o.device, o.steps, lambda: a @ b) / 1e12


def speed(o):
    c = CONFIGS[o.config]
    torch.manual_seed(1)
    n_tokens = c["audio"] // 16 + c["frames"] * (c["side"] // 4) ** 2 + 1
    model = Autoencoder(c).to(o.device)
    called = torch.compile(model) if o.compile else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.1)
    tokens = torch.rand(o.batch, n_tokens, CHANNELS, device=o.device)
    queries = torch.rand(o.batch, sum(model.points), QUERIES, device=o.device)

    def step():
        optimizer.zero_grad()
        with torch.autocast(o.device, torch.bfloat16) if o.bf16 else contextlib.nullcontext():
            audio, image, label = called(tokens, queries)
            loss = audio.abs().mean() + 0.03 * image.abs().mean() + 1e-4 * label.logsumexp(-1).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 10)
        optimizer.step()

    return 1 / timed(o.device, o.steps, step)


def main():
    words = argparse.ArgumentParser(description="A training step in PyTorch")
    words.add_argument("config", choices=[*CONFIGS, "peak"])
    words.add_argument("steps", type=int)
    words.add_argument("--batch", type=int, default=1)
    words.add_argument("--device", default="cpu")
    words.add_argument("--bf16", action="store_true")
    words.add_argument("--compile", action="store_true")
    o = words.parse_args()
    print(f"{(peak if o.config == 'peak' else speed)(o):.3f}")


main()
