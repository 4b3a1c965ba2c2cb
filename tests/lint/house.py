"""The house as the lint scripts see it: its files, its rooms and the arrows between them (tests/lint/rooms)."""
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def files():
    """Every hand-written source and header: the list that the Makefile compiles from."""
    return subprocess.run(["make", "-s", "list-files"], check=True, capture_output=True, text=True).stdout.split()


def room_of(path):
    return os.path.dirname(path)


def rooms():
    """{room: (rooms it may use, libraries of its own)}, in the file's order."""
    table = {}
    for number, line in enumerate(open(os.path.join(HERE, "rooms"), encoding="utf-8"), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"([\w/]+):([\w/ ]*)(?:\|([\w ]*))?", line)
        if not match or match[1] in table:
            raise SystemExit(f"tests/lint/rooms:{number}: not a room of its own: {line}")
        table[match[1]] = (match[2].split(), (match[3] or "").split())
    return table


def below(table, room):
    """Every room that stands below, directly or not; nearest first. A circle raises SystemExit."""
    seen = []

    def walk(name, trail):
        for use in table[name][0]:
            if use not in table:
                raise SystemExit(f"tests/lint/rooms: {name} uses {use}, which is not a room")
            if use in trail:
                raise SystemExit(f"tests/lint/rooms: a circle: {' -> '.join(trail + [use])}")
            if use not in seen:
                seen.append(use)
                walk(use, trail + [use])

    walk(room, [room])
    return seen
