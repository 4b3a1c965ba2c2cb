#!/usr/bin/env python3
"""The tables and the chart of what tests/bench/learning measured.

usage: learning_report.py LEARNING.JSON [CHART.SVG]

Prints the tables as docs/bench/learning.md shows them, and draws the curves.
"""
import json
import sys

NAMES = {"slipway": "slipway-trainer", "pytorch": "PyTorch", "rounding": "slipway-trainer, other rounding"}
COLOURS = {"pytorch": "#e07b00", "slipway": "#1f5fbf", "rounding": "#58b0a8"}
FIGURES = [  # name, what, unit's factor, digits
    ("loss", "loss", 1, 6), ("image", "image: mean error of a colour, of 1", 1, 4), ("psnr", "image: PSNR, dB", 1, 2),
    ("audio", "audio: mean error of a sample, of 1", 1, 5), ("snr", "audio: SNR, dB", 1, 2),
    ("label", "label: cross-entropy, nats", 1, 3), ("top1", "label: top-1, %", 100, 1), ("top5", "label: top-5, %", 100, 1),
]
PANELS = [("loss", "loss"), ("image", "image: mean error of a colour"), ("psnr", "image: PSNR (dB)"),
          ("label", "label: cross-entropy (nats)")]
TRAINED = "#555"
WIDTH, HEIGHT, LEFT, TOP, TICKS = 400, 200, 60, 60, 4


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def sets(r):
    train, val = r["sets"]["train"], r["sets"]["val"]
    rows = [[name, c["videos"], c["clips"], val["classes"][name]["videos"], val["classes"][name]["clips"]]
            for name, c in train["classes"].items()]
    rows.append(["together", train["videos"], train["clips"], val["videos"], val["clips"]])
    rows.append(["seconds", "", f"{train['seconds']:.0f}", "", f"{val['seconds']:.0f}"])
    return table(["class", "train: videos", "clips", "val: videos", "clips"], rows)


def runs(r):
    return [name for name in NAMES if name in r["runs"]]


def last(r, name):
    return r["runs"][name]["val"][-1]


def figures(r):
    names = runs(r)
    rows = [["steps", *(f"{last(r, name)['step']:,}" for name in names)]]
    for key, what, factor, digits in FIGURES:
        rows.append([what, *(f"{last(r, name)[key] * factor:.{digits}f}" for name in names)])
    trained = [last(r, name).get("train_image") for name in names]
    rows.insert(3, ["the same of the train clips, before", *("" if v is None else f"{v:.4f}" for v in trained)])
    for key, what in (("cpu_seconds", "CPU time, s"), ("seconds", "wall time, s"), ("peak_mb", "peak memory, MB")):
        rows.append([what, *("" if name == "rounding" else f"{r['runs'][name][key]:.0f}" for name in names)])
    return table(["unseen clips, averaged weights", *(NAMES[name] for name in names)], rows)


def apart(r):
    """How far the validation losses are apart, and what each side says of the other's weights."""
    names = runs(r)
    rows = [[f"{points[0]['step']:,}", *(f"{p['loss']:.6f}" for p in points),
             *(f"{100 * (p['loss'] / points[0]['loss'] - 1):+.2f} %" for p in points[1:])]
            for points in zip(*(r["runs"][name]["val"] for name in names))]
    return table(["loss of unseen clips after step", *(NAMES[name] for name in names),
                  *(f"{NAMES[name]} is" for name in names[1:])], rows)


def judged(r):
    rows = [[NAMES[name], f"{last(r, name)['loss']:.7f}", f"{other['loss']:.7f}",
             f"{other['loss'] / last(r, name)['loss'] - 1:+.1e}"] for name, other in r["judged_by_the_other"].items()]
    return table(["last averaged weights of", "loss by its own", "loss by the other", "difference"], rows)


def guesses(r):
    names = {"mean": "one colour for all, the train clips' mean", "1": "each frame's mean colour"}
    rows = [[names.get(k, f"each frame shrunk to {k} x {k}"), f"{v:.2f}"] for k, v in r["plain"].items()]
    return table(["guess", "PSNR, dB"], rows)


def tables(r):
    parts = [sets(r), figures(r), guesses(r), apart(r) if len(runs(r)) > 1 else ""]
    parts.append(judged(r) if r["judged_by_the_other"] else "")
    return "\n\n".join(part for part in parts if part)


# ---- the chart ----


def text(x, y, words, anchor="start", **more):
    extra = "".join(f' {k}="{v}"' for k, v in more.items())
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{extra}>{words}</text>'


def scale(low, high, begin, length):
    span = high - low or 1
    return lambda v: begin + (v - low) / span * length


def line(points, colour, dash="", width=2):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>'


def series(r, key):
    """(run, key, colour, dash, width) of each line of a panel: PyTorch's is broad and lies below the trainer's."""
    found = [(name, key, COLOURS[name], "", 5 if name == "pytorch" else 2) for name in COLOURS if name in r["runs"]]
    return found + [("slipway", "train_image", TRAINED, "2 3", 2)] if key == "image" else found


def panel(r, key, title, left, top):
    lines = series(r, key)
    values = [p[k] for name, k, *_ in lines for p in r["runs"][name]["val"]]
    low, high = min(values), max(values)
    steps = max(last(r, name)["step"] for name in r["runs"])
    x, y = scale(0, steps, left, WIDTH), scale(low, high, top + HEIGHT, -HEIGHT)
    out = [text(left, top - 10, title, **{"font-weight": "bold"})]
    for i in range(TICKS + 1):
        value, step = low + (high - low) * i / TICKS, steps * i / TICKS
        out.append(f'<line x1="{left}" y1="{y(value):.1f}" x2="{left + WIDTH}" y2="{y(value):.1f}" stroke="#ddd"/>')
        out.append(text(left - 6, y(value) + 4, f"{value:.3g}", "end"))
        words, anchor = (f"step {step:,.0f}", "end") if i == TICKS else (f"{step:,.0f}", "middle")
        out.append(text(x(step), top + HEIGHT + 16, words, anchor))
    for name, k, colour, dash, width in lines:
        out.append(line([(x(p["step"]), y(p[k])) for p in r["runs"][name]["val"]], colour, dash, width))
    return out


def legend(r):
    rows = [(NAMES[name], colour, "") for name, colour in COLOURS.items() if name in r["runs"]]
    out, x = [], LEFT
    for words, colour, dash in rows + [("slipway-trainer, train clips", TRAINED, "2 3")]:
        out += [line([(x, 18), (x + 24, 18)], colour, dash, 3), text(x + 30, 22, words)]
        x += 50 + 7 * len(words)
    return out


def write_chart(path, r):
    across, down = WIDTH + LEFT + 30, HEIGHT + TOP + 10
    size = f'width="{2 * across}" height="{2 * down + 20}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12" role="img" aria-labelledby="t">',
             f'<title id="t">{"; ".join(NAMES[name] for name in COLOURS if name in r["runs"])}: figures by training step</title>',
             '<rect width="100%" height="100%" fill="white"/>', *legend(r)]
    for i, (key, title) in enumerate(PANELS):
        parts += panel(r, key, title, LEFT + i % 2 * across, TOP + i // 2 * down)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts + ["</svg>\n"]))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    print(tables(result))
    if len(sys.argv) == 3:
        write_chart(sys.argv[2], result)


if __name__ == "__main__":
    main()
