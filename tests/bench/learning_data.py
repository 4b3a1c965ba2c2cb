"""What tests/bench/learning says of the prepared clips themselves (docs/TRAINING.md, trainer/data/shard.h)."""
import json
import math
import struct


def listed_in(folder):
    with open(f"{folder}/dataset.json", encoding="utf-8") as file:
        return json.load(file)


def numbered(listed):
    """The shards, each with the number of its first clip."""
    first = 0
    for shard in listed["shards"]:
        yield {**shard, "first": first}
        first += shard["clips"]


def counts(listed):
    """By class: videos and clips; and the seconds that the clips last."""
    classes = {name: {"videos": 0, "clips": 0} for name in listed["classes"]}
    for shard in listed["shards"]:
        classes[listed["classes"][shard["label"]]]["videos"] += 1
        classes[listed["classes"][shard["label"]]]["clips"] += shard["clips"]
    total = sum(c["clips"] for c in classes.values())
    return {"classes": classes, "clips": total, "seconds": total * listed["clip"]["frames"] / 25,
            "videos": len(listed["shards"]), "rejected": len(listed["rejected"])}


def frames_of(folder):
    """Each frame of a prepared folder: RGB, row by row (trainer/data/shard.h)."""
    listed = listed_in(folder)
    size = 3 * listed["clip"]["width"] * listed["clip"]["height"]
    for shard in listed["shards"]:
        with open(f"{folder}/{shard['file']}", "rb") as file:
            data = file.read()
        n, stride = struct.unpack("<QQ", data[40:56])
        for record in range(n):
            for frame in range(listed["clip"]["frames"]):
                at = 128 + record * stride + frame * size
                yield data[at : at + size]


def plain(data):
    """PSNR over all pixels of the val clips of guesses that nothing was learnt for, in dB: one colour for all, the mean of
    the train clips; and of each frame the mean colours of a grid of squares, as if it were shrunk to so many pixels."""
    side = listed_in(f"{data}/val")["clip"]
    mean, n = [0] * 3, 0
    for frame in frames_of(f"{data}/train"):
        mean = [m + sum(frame[c::3]) for c, m in enumerate(mean)]
        n += len(frame) // 3
    mean = [m / n for m in mean]
    grids = (1, 2, 4, 8, 16)
    wrong, count = dict.fromkeys(["mean", *grids], 0.0), 0
    for frame in frames_of(f"{data}/val"):
        squares = sum(v * v * frame.count(v) for v in range(256))
        sums = [sum(frame[c::3]) for c in range(3)]
        area = len(frame) // 3
        wrong["mean"] += squares - sum(2 * s * m - area * m * m for s, m in zip(sums, mean))
        for k in grids:
            wrong[k] += squares - explained(frame, side["width"], side["height"], k)
        count += len(frame)
    return {str(name): decibels(error / count / 255**2) for name, error in wrong.items()}


def explained(frame, width, height, k):
    """The sum of squares of a frame in which each square of a grid of k x k has its mean colour."""
    across, down, total = width // k, height // k, 0.0
    for top in range(0, height, down):
        for left in range(0, width, across):
            rows = [frame[3 * (y * width + left) : 3 * (y * width + left + across)] for y in range(top, top + down)]
            square = b"".join(rows)
            total += sum(sum(square[c::3]) ** 2 for c in range(3)) / (across * down)
    return total


def decibels(mean_square):
    return -10 * math.log10(mean_square) if mean_square > 0 else math.inf
