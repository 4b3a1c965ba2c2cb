"""Pictures for tests/bench/learning, with nothing but Python: PNG as `slipway-trainer sample` writes it (8-bit RGB, no
filters), and sheets of them."""
import struct
import zlib

SIGNATURE, GAP = b"\x89PNG\r\n\x1a\n", 4


class Picture:
    def __init__(self, width, height, rgb):
        assert len(rgb) == 3 * width * height
        self.width, self.height, self.rgb = width, height, rgb

    def row(self, y, left=0, right=None):
        return self.rgb[3 * (y * self.width + left) : 3 * (y * self.width + (self.width if right is None else right))]


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data.startswith(SIGNATURE), path
    at, size, packed = len(SIGNATURE), None, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + n]
        if kind == b"IHDR":
            size = struct.unpack(">II", body[:8])
            assert body[8:] == b"\x08\x02\0\0\0", path
        packed += body if kind == b"IDAT" else b""
        at += 12 + n
    raw, line = zlib.decompress(packed), 3 * size[0] + 1
    assert not any(raw[::line]), f"{path} has filtered rows"
    return Picture(*size, b"".join(raw[y * line + 1 : (y + 1) * line] for y in range(size[1])))


def raw(path, width, height):
    """The first frame of a file of RGB frames."""
    with open(path, "rb") as file:
        return Picture(width, height, file.read(3 * width * height))


def halves(picture):
    """Left and right of a picture of two frames with a gap between."""
    width = (picture.width - GAP) // 2
    cuts = ((0, width), (width + GAP, picture.width))
    return tuple(Picture(width, picture.height, b"".join(picture.row(y, *cut) for y in range(picture.height))) for cut in cuts)


def grid(rows):
    """Rows of frames of one size, white between them."""
    white, first = b"\xff", rows[0][0]
    across = len(rows[0]) * (first.width + GAP) - GAP
    lines = []
    for number, row in enumerate(rows):
        lines += [white * 3 * across] * (GAP if number else 0)
        lines += [(white * 3 * GAP).join(frame.row(y) for frame in row) for y in range(first.height)]
    return Picture(across, len(lines), b"".join(lines))


def filtered(picture):
    """Rows as differences to the pixel at the left (PNG's filter 1), which pack better."""
    for y in range(picture.height):
        row = picture.row(y)
        yield b"\1" + row[:3] + bytes((a - b) & 255 for a, b in zip(row[3:], row))


def write(path, picture):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(filtered(picture)), 9)
    with open(path, "wb") as file:
        file.write(SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b""))
