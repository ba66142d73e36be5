"""Whatever a file or a screen holds: an answer in bounded time, and never an exception.

Files are real ones of every dialect with pieces cut, doubled, exchanged and overwritten; screens are recorded
ones treated alike, and rows made to be slow. A short run in every test run, with a fixed seed; `--long`
goes on for two minutes from a seed of its own, which a failure names.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.manifest.foreign import JACKIN, TUIOS
from tests.support.scoring import SCREENS
from trayagent import resources
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.format import Manifest
from trayagent.manifest.load import Library, read_text
from trayagent.manifest.mask import mask
from trayagent.manifest.trace import Trace
from trayagent.model.panes import Screen

SHORT, LONG = 3.0, 120.0  # seconds
SLOWEST = 2.0  # seconds for one file or one look; a busy machine included
SEED = 20260101

ODD = (
    "\x00", "\ufeff", "\u202e", "\u212a", "İ", "ſ", "\ud800", "💥" * 40, "─" * 2000, "a" * 5000, "\n" * 300,
    "(" * 60, "[[", "]]", "{", '"""', "'''", "= =", "\\", "(?i)", "(?=x)", "(a*)*b", "\\x{110000}", "[^",
    "{1000}", "{1001}", "not = [{", "any = [{ any = [{ any = [{", "priority = 99999999999999999999", "1e999",
    "true", "[rules]",
)  # fmt: skip
IDE = json.dumps(
    {"id": "demo", "commands": ["demo"],
     "states": {"blocked": {"any": [{"regex": "^[\\u2801-\\u28ff] (a|b)+$"}, {"contains": "x"}]}}}
)  # fmt: skip
TUIOS_FILE = (
    f"{TUIOS}[screen]\nenabled = true\nlines = 9\n[[screen.rule]]\nstate = 'needs_input'\nregex = ['^x+$']\n"
    "any_of = [{ all = ['a'], none_of = [{ any = ['b'] }] }]\n[title]\nenabled = true\n[[title.rule]]\n"
    "state = 'working'\nall = ['⠋ x']\n"
)
JACKIN_FILE = (
    f"{JACKIN}[[rule]]\nid = 'r'\nstate = 'blocked'\npriority = 3\nregion = 'bottom_nonempty:12'\n"
    "requires_any = ['a', 'b']\nforbids_regex = ['^x']\ngate = { not = { all = [{ contains = 'y' }] } }\n"
)
REGRESSIONS = [
    b"", b"\x00", b"\xff\xfe", b"[" * 5000, b"a." * 5000 + b"b = 1", b"id = 'x'\nrules = 3",
    b"id = 'x'\nrules = [3]",
    b"id = 'x'\n[[rules]]\nid = 3\nany = 3\nregex = [3, [4]]\n[prompts]\nx = 3\n[hooks]\nevents = [[]]\n"
    b"[detect]\nheadless = [3]",
    b"schema_version = 1\nid = 3\ndetect = 3\nscreen = []\ntitle = 3\nnotify = 'x'",
    b"schema_version = 1\nagent = []\nrule = [{gate = {all = [{not = 3}]}}]",
]  # fmt: skip


def noise(chance: random.Random) -> str:
    """A few characters, ASCII or box drawing and its neighbours."""
    codes = (chance.choice((chance.randrange(32, 127), chance.randrange(0x2000, 0x2900))) for _ in range(9))
    return "".join(map(chr, codes))


def mutated(text: str, chance: random.Random) -> str:
    """The text after one to eight accidents."""
    for _ in range(chance.randint(1, 8)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice((0, 1, 3, 20, 200)))
        swapped = text[end : end + 40] + text[start:end]
        piece = chance.choice(("", text[start:end] * 2, swapped, chance.choice(ODD), noise(chance)))
        text = text[:start] + piece + text[end:]
    return text


def within(what: str, slowest: float, action: Callable[[], object]) -> None:
    """Run something, and fail with its seed where it took too long."""
    began = time.perf_counter()
    action()
    spent = time.perf_counter() - began
    assert spent < slowest, f"{what}: {spent:.2f} s"


def sources() -> list[tuple[str, str]]:
    files = [
        (path.read_text("utf-8"), ".toml") for path in sorted(resources.folder("manifests").glob("*.toml"))
    ]
    return [*files, (TUIOS_FILE, ".toml"), (JACKIN_FILE, ".toml"), (IDE, ".json"), (IDE, ".yaml")]


def screen_texts() -> list[str]:
    paths = sorted(SCREENS.glob("*/*.json"))[::7]
    texts = [json.loads(path.read_text("utf-8")) for path in paths]
    return [data["screen"] for data in texts if isinstance(data, dict) and "screen" in data]


SLOW_ROWS = (
    "a" * 100_000, "─" * 50_000, ("x " * 400 + "\n") * 64, "\n".join(["• " + "a" * 900] * 64), "(" * 20_000,
    "Esc to " * 9_000, "\n".join("1. " * 300 for _ in range(200)), "❯ " * 30_000, "\u00a0" * 50_000,
)  # fmt: skip


def screens(chance: random.Random, texts: list[str]) -> Iterator[Screen]:
    """Screens without end."""
    for text in SLOW_ROWS:
        yield Screen(text, text[:300], text[:50], joined=text)
    while True:
        text = mutated(chance.choice(texts), chance)
        title = chance.choice(("", "✳ x", "⠋ ", chance.choice(ODD)))
        yield Screen(text, title, chance.choice(("", "4;3;", "4;1;", ";", "4;;;;x")))


def fuzz_files(seconds: float, seed: int, texts: list[str]) -> int:
    chance, until, count = random.Random(seed), time.monotonic() + seconds, 0
    known = sources()
    looks = screens(chance, texts)
    while time.monotonic() < until:
        count += 1
        text, suffix = chance.choice(known)
        raw = mutated(text, chance).encode("utf-8", "surrogatepass")
        found: list[Manifest] = []

        def read(raw: bytes = raw, suffix: str = suffix, found: list[Manifest] = found) -> None:
            manifest, problems = read_text(raw, "fuzzed", suffix)
            assert manifest is not None or problems
            assert all(str(problem) for problem in problems)
            found.extend([] if manifest is None else [manifest])

        within(f"reading, seed {seed}, file {count}", SLOWEST, read)
        for manifest in found:
            screen = next(looks)
            within(f"look, seed {seed}, file {count}", SLOWEST, lambda m=manifest, s=screen: evaluate(m, s))
    return count


def fuzz_screens(seconds: float, seed: int, texts: list[str], library: Library) -> int:
    chance, until = random.Random(seed), time.monotonic() + seconds
    for count, screen in enumerate(screens(chance, texts)):
        if count > len(SLOW_ROWS) and time.monotonic() > until:
            return count
        for manifest in chance.sample(library.manifests, 6):
            what = f"{manifest.id}, seed {seed}, screen {count}"
            plain: list[object] = []
            within(what, SLOWEST, lambda m=manifest, s=screen, out=plain: out.append(evaluate(m, s)))
            assert plain == [evaluate(manifest, screen, Trace())], what
        within(f"masking, seed {seed}, screen {count}", SLOWEST, lambda s=screen: mask(s.text[:20_000]))
    raise AssertionError("screens never end")


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return screen_texts()


@pytest.mark.parametrize("raw", REGRESSIONS, ids=range(len(REGRESSIONS)))
@pytest.mark.parametrize("suffix", [".toml", ".yaml", ".json"])
def test_a_senseless_file_is_refused_with_a_reason(raw: bytes, suffix: str) -> None:
    manifest, problems = read_text(raw, "demo", suffix)
    assert manifest is None
    assert any(problem.fatal for problem in problems)


def doubling(head: str, inner: str, outer: str, levels: int = 40) -> str:
    """YAML whose every level holds the level below twice, and is a line long."""
    lines = [f"x0: &x0 {inner}"]
    lines += [f"x{n}: &x{n} {outer.replace('*', f'*x{n - 1}')}" for n in range(1, levels)]
    return "\n".join(lines) + "\n" + head.replace("*", f"*x{levels - 1}")


HUGE = {
    "native": doubling("id: x\nrules: [{id: r, all: [*]}]", "{contains: [a]}", "{all: [*, *], any: [*, *]}"),
    "tuios": doubling(
        "schema_version: 1\nid: x\ndetect: {comm: [xxxxx]}\n"
        "screen: {enabled: true, rule: [{state: idle, any_of: [*]}]}",
        "{all: [a]}", "{all_of: [*, *], any_of: [*, *], none_of: [*, *]}",
    ),
    "jackin": doubling(
        "schema_version: 1\nagent: x\nvalidated_versions: '1'\nmin_engine_version: 2\n"
        "rule: [{id: r, state: idle, priority: 1, region: 'bottom:3', gate: *}]",
        "{contains: a}", "{all: [*, *]}",
    ),
    "circle": "id: x\nrules: [{id: r, all: [&a {all: [*a]}]}]",
    "circle of tuios": "schema_version: 1\nid: x\ndetect: {comm: [xxxxx]}\n"
    "screen: {enabled: true, rule: [&a {state: idle, all_of: [*a]}]}",
    "deep": "[" * 100_000,
    "deep braces": "{" * 100_000,
    "many keys": "".join(f"a{n}: b\n" for n in range(20_000)),
    "many keys of a rule": "id: x\nrules:\n- id: r\n" + "".join(f"  a{n}: b\n" for n in range(8000)),
}  # fmt: skip


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
def test_a_small_file_that_means_a_huge_one_is_refused_in_time(text: str) -> None:
    found: list[Manifest | None] = []
    within("reading", 10 * SLOWEST, lambda: found.append(read_text(text.encode(), "demo", ".yaml")[0]))
    assert found == [None]


def test_broken_files_of_every_dialect_never_break_us(texts: list[str]) -> None:
    assert fuzz_files(SHORT, SEED, texts) > 5


def test_broken_screens_never_break_us_and_explain_agrees(texts: list[str], library: Library) -> None:
    assert fuzz_screens(SHORT, SEED, texts, library) > len(SLOW_ROWS)


@pytest.mark.long
def test_for_long_neither_files_nor_screens_break_us(
    texts: list[str], library: Library, tmp_path: Path
) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    fuzz_files(LONG / 2, seed, texts)
    fuzz_screens(LONG / 2, seed, texts, library)
