"""Draws trayagent's icons. A developer's tool: the program itself reads only what this writes.

    python icons/render.py      needs Pillow, rsvg-convert (librsvg2-bin), DejaVu Sans (fonts-dejavu-core)

Theory of the drawings. One shape, a soft square, is the program; what happens to it is the state:

    idle      its outline                      unknown  only its corners
    working   outline and a calm dot           paused   outline, struck through
    done      outline and a tick               error    filled red, a cross
    blocked   filled amber, stood on its corner

So the states differ in shape first and in colour second. How many panes need the person is a number:
inside the diamond, beside the cross (as in "two times"), and as an amber badge when paused. Coordinates
are snapped to the pixels of each size, and digits are drawn with the font's own hinting: at 16 pixels
that is what legibility is made of.

A tray item cannot learn whether its panel is light or dark. `neutral` holds at least 3:1 contrast against
both a light (#f6f5f4) and a dark (#353535) panel and is the default; `light` and `dark` are for a panel of
that colour, known to the person.

Written: `THEME.pack` (the format: trayagent/desktop/tray/icons.py), `hicolor/` (PNG and SVG, for menus,
launchers and banners) and `docs/images/icons.png`, where all can be looked at.
"""

from __future__ import annotations

import io
import json
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).resolve().parent
SHEET = HERE.parent / "docs/images/icons.png"
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansCondensed-Bold.ttf"

SIZES = (16, 22, 24, 32, 44, 48, 64)
STATES = ("idle", "working", "done", "blocked", "error", "paused", "unknown")
COUNTED = ("blocked", "error", "paused")  # the others cannot be loudest while somebody is needed
COUNTS = ("", "1", "2", "3", "4", "5", "6", "7", "8", "9", "9+")


@dataclass(frozen=True)
class Palette:
    """Colours of one theme. line: outlines; edge: the rim that holds amber against a light panel."""

    line: str
    dot: str
    tick: str
    amber: str
    edge: str
    red: str
    ink: str = "#241600"
    paper: str = "#ffffff"


THEMES = {
    "neutral": Palette("#828993", "#4a8fdb", "#2f9e5f", "#f7a81b", "#9a5f00", "#e5484d"),
    "light": Palette("#3a3f47", "#1c6fc4", "#177a41", "#f2a20f", "#8a5300", "#d22f33"),
    "dark": Palette("#e6e8eb", "#74b8ff", "#5fd68f", "#ffb93a", "#ffb93a", "#ee5257"),
}
PANELS = {"neutral": ("#f6f5f4", "#353535"), "light": ("#f6f5f4",), "dark": ("#353535", "#111111")}


# -- shapes ------------------------------------------------------------------------------


def soft_square(size: int) -> tuple[float, float, float, float]:
    """Inset of the centre line, its length, stroke width and corner radius, on whole pixels."""
    stroke = {16: 2, 22: 2, 24: 2}.get(size, round(size / 11))
    margin = 1 if size < 32 else round(size / 16)
    inset = margin + stroke / 2
    return inset, size - 2 * inset, stroke, size * 0.25


def square(size: int, palette: Palette, extra: str = "") -> str:
    inset, side, stroke, radius = soft_square(size)
    return (
        f'<rect x="{inset}" y="{inset}" width="{side}" height="{side}" rx="{radius}" fill="none" '
        f'stroke="{palette.line}" stroke-width="{stroke}" {extra}/>'
    )


def corners(size: int, palette: Palette) -> str:
    """The soft square with a gap in the middle of each side."""
    inset, side, stroke, radius = soft_square(size)
    near, far, middle = inset, inset + side, size / 2
    gap = size * 0.16
    path = ""
    for x, y in ((near, near), (far, near), (far, far), (near, far)):
        dx, dy = (1 if x == near else -1), (1 if y == near else -1)
        start, end = middle - dx * gap, middle - dy * gap
        clockwise = 1 if dx == dy else 0
        path += (
            f"M{x} {end}V{y + dy * radius}A{radius} {radius} 0 0 {clockwise} {x + dx * radius} {y}H{start}"
        )
    return f'<path d="{path}" fill="none" stroke="{palette.line}" stroke-width="{stroke}"/>'


def tick(size: int, palette: Palette) -> str:
    u = size / 16
    stroke = {16: 2.2, 22: 2.6, 24: 2.8}.get(size, size * 0.13)
    points = f"{4.7 * u},{8.2 * u} {7.1 * u},{10.6 * u} {11.4 * u},{5.4 * u}"
    return (
        f'<polyline points="{points}" fill="none" stroke="{palette.tick}" stroke-width="{stroke}" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def diamond(size: int, palette: Palette) -> str:
    """The soft square on its corner; its rim lies inside, so that the silhouette keeps its size."""
    rim = size / 16
    reach = size / 2 - rim * 1.1
    c = size / 2
    points = f"{c},{c - reach} {c + reach},{c} {c},{c + reach} {c - reach},{c}"
    return (
        f'<polygon points="{points}" fill="{palette.edge}" stroke="{palette.edge}" '
        f'stroke-width="{2 * rim}" stroke-linejoin="round"/>'
        f'<polygon points="{points}" fill="{palette.amber}" stroke="{palette.amber}" '
        f'stroke-width="{rim * 0.3}" stroke-linejoin="round"/>'
    )


def cross(size: int, palette: Palette, text: str) -> str:
    """A red tile with a cross; a number stands right of it, and `9+` in its stead."""
    margin = 1 if size < 32 else round(size / 16)
    side = size - 2 * margin
    u = size / 16
    many = text not in ("", "1")
    x, y, arm = (4.6 * u, 8 * u, 1.9 * u) if many else (8 * u, 8 * u, 3.1 * u)
    stroke = (1.7 if many else 2.4) * u
    if len(text) > 1:
        arm = stroke = 0
    legs = f"M{x - arm} {y - arm}L{x + arm} {y + arm}M{x + arm} {y - arm}L{x - arm} {y + arm}"
    return (
        f'<rect x="{margin}" y="{margin}" width="{side}" height="{side}" rx="{size * 0.25}" '
        f'fill="{palette.red}"/><path d="{legs}" stroke="{palette.paper}" stroke-width="{stroke}" '
        'stroke-linecap="round"/>'
    )


def slashed(size: int, palette: Palette) -> str:
    """The soft square struck through, with a clear line beside the stroke."""
    _, _, stroke, _ = soft_square(size)
    low, high = size * 0.94, size * 0.06
    return (
        f'<mask id="m"><rect width="{size}" height="{size}" fill="#fff"/>'
        f'<line x1="0" y1="{size}" x2="{size}" y2="0" stroke="#000" stroke-width="{stroke * 2.6}"/></mask>'
        + square(size, palette, 'mask="url(#m)"')
        + f'<line x1="{high}" y1="{low}" x2="{low}" y2="{high}" stroke="{palette.line}" '
        f'stroke-width="{stroke}" stroke-linecap="round"/>'
    )


def svg(state: str, size: int, palette: Palette, text: str = "") -> str:
    """The drawing of a state for one size in pixels."""
    radius = {16: 3, 22: 4, 24: 4}.get(size, size * 0.17)
    body = {
        "idle": lambda: square(size, palette),
        "working": lambda: (
            square(size, palette)
            + f'<circle cx="{size / 2}" cy="{size / 2}" r="{radius}" fill="{palette.dot}"/>'
        ),
        "done": lambda: square(size, palette) + tick(size, palette),
        "blocked": lambda: diamond(size, palette),
        "error": lambda: cross(size, palette, text),
        "paused": lambda: slashed(size, palette),
        "unknown": lambda: corners(size, palette),
    }[state]()
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}">{body}</svg>'


def application(size: int) -> str:
    """The program's own icon: the soft square, and in it the diamond that it is there for."""
    margin = size / 32
    side, c, reach = size - 2 * margin, size / 2, size * 0.27
    points = f"{c},{c - reach} {c + reach},{c} {c},{c + reach} {c - reach},{c}"
    body = (
        f'<rect x="{margin}" y="{margin}" width="{side}" height="{side}" rx="{size * 0.25}" fill="#333a44"/>'
        f'<polygon points="{points}" fill="#f7a81b" stroke="#f7a81b" stroke-width="{size / 16}" '
        'stroke-linejoin="round"/>'
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}">{body}</svg>'


# -- numbers -----------------------------------------------------------------------------


def digits(size: int, text: str, height: float) -> Image.Image:
    """An alpha mask, just as large as the text, of digits about `height` pixels high; a plus is small."""
    font = ImageFont.truetype(FONT, max(7, round(height / 0.729)))
    left, top, right, bottom = font.getbbox(text[0])
    mask = Image.new("L", (int(right - left) + 2, int(bottom - top) + 2), 0)
    ImageDraw.Draw(mask).text((1 - left, 1 - top), text[0], font=font, fill=255)
    mask = mask.crop(mask.getbbox())
    if text.endswith("+"):
        stroke, gap = max(1, round(size / 18)), max(1, round(size / 24))
        arm = max(1, round(size / 18))
        side = 2 * arm + stroke
        wide = Image.new("L", (mask.width + gap + side, mask.height), 0)
        wide.paste(mask, (0, 0))
        x, y = mask.width + gap, (mask.height - side) // 2
        pen = ImageDraw.Draw(wide)
        pen.rectangle([x, y + arm, x + side - 1, y + arm + stroke - 1], fill=255)
        pen.rectangle([x + arm, y, x + arm + stroke - 1, y + side - 1], fill=255)
        mask = wide
    return mask


def put(icon: Image.Image, mask: Image.Image, colour: str, x: float, y: float) -> None:
    """Paint digits centred at a point, on whole pixels."""
    place = (round(x - mask.width / 2), round(y - mask.height / 2))
    icon.paste(Image.new("RGBA", mask.size, colour), place, mask)


def badge(icon: Image.Image, text: str, palette: Palette) -> None:
    """An amber badge in the lower right corner, cut free of what is below it."""
    size = icon.width
    mask = digits(size, text, size * (0.46 if size < 22 else 0.38))
    pad = gap = max(1, round(size / 20))
    width, height = max(mask.width + 2 * pad + pad, mask.height + 2 * pad), mask.height + 2 * pad
    scale = 8
    box = [(size - width) * scale, (size - height) * scale, size * scale - 1, size * scale - 1]
    for grow, colour in ((gap, None), (0, palette.amber)):
        shape = Image.new("L", (size * scale, size * scale), 0)
        edges = [box[0] - grow * scale, box[1] - grow * scale, box[2] + grow * scale, box[3] + grow * scale]
        ImageDraw.Draw(shape).rounded_rectangle(edges, radius=(0.17 * size + grow) * scale, fill=255)
        shape = shape.resize(icon.size, Image.Resampling.BOX)
        icon.paste(Image.new("RGBA", icon.size, colour or (0, 0, 0, 0)), (0, 0), shape)
    put(icon, mask, palette.ink, size - width / 2, size - height / 2)


def number(icon: Image.Image, state: str, text: str, palette: Palette) -> None:
    """Write how many panes need the person into, beside or onto the drawing of a state."""
    size = icon.width
    if state == "blocked":
        put(
            icon,
            digits(size, text, size * 0.5 if len(text) == 1 else size * 0.45),
            palette.ink,
            size / 2,
            size / 2,
        )
    elif state == "error":
        x = size * 0.69 if len(text) == 1 else size / 2
        put(icon, digits(size, text, size * 0.5), palette.paper, x, size / 2)
    else:
        badge(icon, text, palette)


# -- files -------------------------------------------------------------------------------


def paint(source: str) -> Image.Image:
    png = subprocess.run(["rsvg-convert"], input=source.encode(), capture_output=True, check=True).stdout
    return Image.open(io.BytesIO(png)).convert("RGBA")


def icons(palette: Palette) -> Iterator[tuple[str, dict[int, Image.Image]]]:
    """Each icon by name (`idle`, `blocked-2`, `error-9+`) at each size."""
    for state in STATES:
        plain = {size: paint(svg(state, size, palette)) for size in SIZES}
        for text in COUNTS if state in COUNTED else ("",):
            if state == "error" and text:
                drawn = {size: paint(svg(state, size, palette, text)) for size in SIZES}
            else:
                drawn = {size: icon.copy() for size, icon in plain.items()}
            written = {"blocked": text or "!", "error": "" if text == "1" else text}.get(state, text)
            for icon in drawn.values() if written else ():
                number(icon, state, written, palette)
            yield (f"{state}-{text}" if text else state), drawn


def coarse(pixel: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """A pixel as (alpha, red, green, blue), in steps that no eye sees: 256 colours then hold an icon."""
    red, green, blue, alpha = pixel
    alpha = round(alpha / 17) * 17
    return (alpha, *(min(255, round(part / 5) * 5) for part in (red, green, blue))) if alpha else (0, 0, 0, 0)


def indexed(by_size: dict[int, Image.Image]) -> bytes:
    """256 ARGB entries, then a byte for each pixel of each size: packed, half of what plain ARGB takes."""
    pixels = [
        coarse(pixel) for size in SIZES for pixel in zip(*[iter(by_size[size].tobytes())] * 4, strict=True)
    ]
    palette = sorted(set(pixels))
    if len(palette) > 256:
        raise ValueError(f"{len(palette)} colours in one icon")
    place = {colour: index for index, colour in enumerate(palette)}
    table = bytes(part for colour in palette for part in colour).ljust(1024, b"\0")
    return table + bytes(place[pixel] for pixel in pixels)


def pack(path: Path, drawn: dict[str, dict[int, Image.Image]]) -> None:
    """One line of JSON, {"sizes": [...], "icons": {name: [offset, length]}}, then the zlib blobs."""
    index, blobs, offset = {}, [], 0
    for name, by_size in drawn.items():
        blob = zlib.compress(indexed(by_size), 9)
        index[name] = [offset, len(blob)]
        blobs.append(blob)
        offset += len(blob)
    header = json.dumps({"sizes": SIZES, "icons": index}, separators=(",", ":")).encode()
    path.write_bytes(header + b"\n" + b"".join(blobs))


def sheet(drawn: dict[str, dict[str, dict[int, Image.Image]]]) -> Image.Image:
    """Every state, some numbers, every size, on every panel that a theme is meant for."""
    names = [
        *STATES,
        "blocked-1",
        "blocked-3",
        "blocked-8",
        "blocked-9+",
        "error-2",
        "error-7",
        "error-9+",
        "paused-4",
        "paused-9+",
    ]
    shown, pad, row = (16, 22, 24, 32, 48, 64), 14, 84
    label, width = 110, 30 + sum(size + pad for size in (16, 22, 24, 32, 48, 64))
    panels = [(theme, colour) for theme, colours in PANELS.items() for colour in colours]
    out = Image.new("RGB", (label + width * len(panels), 34 + row * len(names)), "#ffffff")
    pen, font = ImageDraw.Draw(out), ImageFont.truetype(FONT, 13)
    for column, (theme, colour) in enumerate(panels):
        left = label + column * width
        pen.rectangle([left, 0, left + width - 4, out.height], fill=colour)
        ink = "#222222" if colour == "#f6f5f4" else "#dddddd"
        pen.text((left + 16, 10), f"{theme} on {colour}", font=font, fill=ink)
        for line, name in enumerate(names):
            x = left + 16
            for size in shown:
                icon = drawn[theme][name][size]
                out.paste(icon, (x, 34 + line * row + (row - size) // 2), icon)
                x += size + pad
    for line, name in enumerate(names):
        pen.text((10, 34 + line * row + row // 2 - 8), name, font=font, fill="#222222")
    return out


def main() -> None:
    """Write everything."""
    drawn = {theme: dict(icons(palette)) for theme, palette in THEMES.items()}
    for theme, icons_of_theme in drawn.items():
        pack(HERE / f"{theme}.pack", icons_of_theme)
    for state in STATES:
        for size in SIZES:
            target = HERE / f"hicolor/{size}x{size}/status/trayagent-{state}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            drawn["neutral"][state][size].save(target, optimize=True)
    for size in (*SIZES, 128, 256):
        target = HERE / f"hicolor/{size}x{size}/apps/trayagent.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        paint(application(size)).save(target, optimize=True)
    target = HERE / "hicolor/scalable/apps/trayagent.svg"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(application(64) + "\n")
    SHEET.parent.mkdir(parents=True, exist_ok=True)
    sheet(drawn).save(SHEET, optimize=True)


if __name__ == "__main__":
    main()
