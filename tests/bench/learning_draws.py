"""What the trainer draws at random, again in Python, so that another program sees the same clips and points.

Independent of the trainer's code: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
1, 2, 3", SC'11) with the streams and counters that trainer/ops/philox.h, trainer/data/order.h and trainer/train/draw.h
state.
"""
import numpy as np

POINTS, CLASSES, CLASS_CLIPS = 2, 8, 9  # enum philox_stream
EVALUATION = 1 << 62
FEISTEL_ROUNDS = 6
LOW = np.uint64(0xFFFFFFFF)


def philox(seed, counters):
    """Blocks of four 32-bit numbers, one for each row of counters."""
    c = [np.asarray(column, np.uint64) for column in np.asarray(counters, np.uint64).T]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [p1 >> np.uint64(32) ^ c[1] ^ np.uint64(k0), p1 & LOW, p0 >> np.uint64(32) ^ c[3] ^ np.uint64(k1), p0 & LOW]
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return np.stack(c, 1)


def numbers(seed, stream, index, n):
    """The first n numbers of a stream."""
    blocks = -(-n // 4)
    rows = np.zeros((blocks, 4), np.uint64)
    rows[:, 0], rows[:, 1] = np.arange(blocks), stream
    rows[:, 2], rows[:, 3] = index & 0xFFFFFFFF, index >> 32
    return philox(seed, rows).reshape(-1)[:n]


class Below:
    """Draws below a limit, one stream for several limits; the uneven top of the range is drawn again."""

    def __init__(self, seed, stream, index, enough):
        self.values, self.at = numbers(seed, stream, index, enough), 0

    def take(self, limit, n):
        top = (1 << 32) - (1 << 32) % limit
        kept = np.flatnonzero(self.values[self.at :] < top)[:n]
        assert len(kept) == n, "more numbers are needed"
        chosen = self.values[self.at + kept]
        self.at += int(kept[-1]) + 1
        return (chosen % np.uint64(limit)).astype(np.int64)


def training_points(seed, step, limits, counts):
    """Pixels and audio patches that step number `step` (from 0) decodes."""
    return [Below(seed, POINTS, 2 * step + k, 2 * n + 64).take(limit, n) for k, (limit, n) in enumerate(zip(limits, counts))]


def evaluation_points(seed, batch, limits, counts):
    below = Below(seed, POINTS, EVALUATION + batch, 2 * sum(counts) + 64)
    return [below.take(limit, n) for limit, n in zip(limits, counts)]


def permute(seed, stream, which, n, x):
    """Where x goes in permutation number `which` of n things: a Feistel network, walked until it lands inside."""
    if n == 1:
        return x
    half = 1
    while half < 32 and 1 << 2 * half < n:
        half += 1
    mask = (1 << half) - 1
    while True:
        left, right = x >> half, x & mask
        for k in range(FEISTEL_ROUNDS):
            counter = [right & 0xFFFFFFFF, stream << 8 | k, which & 0xFFFFFFFF, which >> 32]
            left, right = right, left ^ int(philox(seed, [counter])[0, 0]) & mask
        x = left << half | right
        if x < n:
            return x


class Balanced:
    """Which clip sample number g is, with --balanced: labels are those of all clips, in order."""

    def __init__(self, seed, labels):
        self.seed = seed
        labels = np.asarray(labels)
        self.clips = [np.flatnonzero(labels == label) for label in np.unique(labels)]

    def clip(self, sample):
        turn, place = divmod(sample, len(self.clips))
        k = permute(self.seed, CLASSES, turn, len(self.clips), place)
        mine = self.clips[k]
        which = k << 32 | turn // len(mine) & 0xFFFFFFFF
        return int(mine[permute(self.seed, CLASS_CLIPS, which, len(mine), turn % len(mine))])
