"""The picture of `make bench`: one group of two bars per measurement, with a title and an axis of seconds.

usage: tests/bench/bench_chart.py README.md >bench.svg   draws the table of a report again
"""
import re
import sys
from html import escape

LEFT, RIGHT, TOP, ROW = 270, 590, 62, 46
OURS, THEIRS = "#1f6feb", "#b8bfc7"


def step_of(longest):
    """The distance of the axis' lines: 1, 2 or 5 times a power of ten, at most eight of them."""
    for step in (base * 10 ** power for power in range(-2, 6) for base in (1, 2, 5)):
        if longest / step <= 8:
            return step
    return longest


def program_of(peer):
    """"tar | pigz -6": the last program of a pipeline compresses."""
    return peer.split("|")[-1].split()[0]


def named(rows):
    """Rows with names of their own: where two measure the same, the peer tells them apart."""
    names = [row[0] for row in rows]
    for what, ours, theirs, peer in rows:
        yield (what if names.count(what) == 1 else f"{what} ({program_of(peer)})", ours, theirs, peer)


def axis(longest, bottom):
    scale, step = (RIGHT - LEFT) / longest, step_of(longest)
    for i in range(int(longest / step) + 1):
        x = LEFT + i * step * scale
        yield f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="#e3e6ea"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" fill="#57606a">{i * step:g}</text>'
    yield (f'<text x="{(LEFT + RIGHT) / 2}" y="{bottom + 34}" text-anchor="middle" fill="#57606a">'
           'seconds, median; shorter is better</text>')


def draw(rows, title):
    """rows: (what, seconds of ours, seconds of theirs, the peer's name)."""
    rows = list(named(rows))
    longest = max(max(ours, theirs) for _, ours, theirs, _ in rows)
    bottom = TOP + ROW * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="{bottom + 46}" font-family="sans-serif" '
             f'font-size="12" role="img" aria-labelledby="t">', f'<title id="t">{escape(title)}</title>',
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="8" y="24" font-size="16" font-weight="bold">{escape(title)}</text>',
             *axis(longest, bottom)]
    for i, (what, ours, theirs, peer) in enumerate(rows):
        y = TOP + ROW * i
        parts.append(f'<text x="8" y="{y + 20}">{escape(what)}</text>')
        for value, colour, name, top in ((ours, OURS, "slipway", y), (theirs, THEIRS, peer, y + 19)):
            width = (RIGHT - LEFT) * value / longest
            parts.append(f'<rect x="{LEFT}" y="{top}" width="{width:.1f}" height="16" fill="{colour}"/>')
            parts.append(f'<text x="{LEFT + 8 + width:.1f}" y="{top + 12}">{escape(name)}, {value:.2f} s</text>')
    return "\n".join(parts + ["</svg>\n"])


def title_of(files, size):
    return f"slipway beside its peers: a tree of {files} files, {size}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    rows = [re.split(r" (?<!\\)\| ", line.strip("| \n").replace("\\|", "\0")) for line in text.splitlines()
            if re.match(r"\| .*\d s \|", line)]
    files, size = re.search(r"Tree: ([\d,]+) files, ([\d.]+ GB)", text).groups()
    sys.stdout.write(draw([(row[0], float(row[1].split()[0]), float(row[3].split()[0]), row[2].replace("\0", "|"))
                           for row in rows], title_of(files, size)))


if __name__ == "__main__":
    main()
