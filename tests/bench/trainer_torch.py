#!/usr/bin/env python3
"""One training step of the same network in PyTorch, for tests/bench/trainer: prints steps per second.

Not the reference of the numbers (the golden folder is): only the same layers, sizes and optimizer.
usage: trainer_torch.py full|mid STEPS
"""
import sys
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
        p = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
        o = self.out((p @ v).transpose(1, 2).reshape(x.shape[0], x.shape[1], -1))
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
        x = self.cross(self.latents, tokens)
        for layer in self.layers:
            x = layer(x)
        y = self.final(self.decoder(queries, x))
        return [head(part) for head, part in zip(self.heads, torch.split(y, self.points, 1))]


def main():
    c, steps = CONFIGS[sys.argv[1]], int(sys.argv[2])
    torch.manual_seed(1)
    n_tokens = c["audio"] // 16 + c["frames"] * (c["side"] // 4) ** 2 + 1
    model = Autoencoder(c)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.1)
    tokens, queries = torch.rand(1, n_tokens, CHANNELS), torch.rand(1, sum(model.points), QUERIES)
    times = []
    for _ in range(steps + 1):
        start = time.monotonic()
        optimizer.zero_grad()
        audio, image, label = model(tokens, queries)
        loss = audio.abs().mean() + 0.03 * image.abs().mean() + 1e-4 * label.logsumexp(-1).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 10)
        optimizer.step()
        times.append(time.monotonic() - start)
    print(f"{1 / sorted(times[1:])[steps // 2]:.3f}")


main()
