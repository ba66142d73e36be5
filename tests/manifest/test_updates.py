"""What an index of updates may say, and which of its files may be taken."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from trayagent.manifest.format import LIMITS, Manifest
from trayagent.manifest.updates import Bundled, Entry, passed_over, read_index, refused

FILE = b"""id = "demo"
version = "2.0"
min_engine_version = 3
[[rules]]
id = "r"
state = "idle"
contains = ["x"]
"""
ENTRY = Entry("demo", "demo.toml", "2.0", 3, hashlib.sha256(FILE).hexdigest())


def index(**changes: object) -> bytes:
    values = {"id": "demo", "path": "demo.toml", "version": "2.0", "min_engine_version": 3,
              "sha256": ENTRY.sha256, **changes}  # fmt: skip
    lines = [f"{key} = {value!r}" for key, value in values.items() if value is not None]
    return ("schema_version = 1\n[[agents]]\n" + "\n".join(lines) + "\n").encode()


def bundled(version: str, content: bytes = b"") -> Bundled:
    return Bundled(Manifest("demo", (), version=version), hashlib.sha256(content).hexdigest())


def test_a_good_index_is_read() -> None:
    assert read_index(index(), "index.toml") == ((ENTRY,), ())


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"id": "../x"}, "id"),
        ({"path": "/etc/demo.toml"}, "path"),
        ({"path": "../demo.toml"}, "path"),
        ({"path": "a/../demo.toml"}, "path"),
        ({"path": "https://x/demo.toml"}, "path"),
        ({"path": ".hidden.toml"}, "path"),
        ({"path": "demo.py"}, "path"),
        ({"version": None}, "version"),
        ({"version": "new"}, "version"),
        ({"min_engine_version": None}, "min_engine_version"),
        ({"sha256": "abc"}, "sha256"),
        ({"sha256": None}, "sha256"),
    ],
)
def test_a_bad_entry_refuses_the_index(changes: dict[str, object], key: str) -> None:
    entries, problems = read_index(index(**changes), "index.toml")
    assert entries == ()
    assert [problem.key.removeprefix("agents[0].") for problem in problems] == [
        key.removeprefix("agents[0].")
    ]


def test_an_index_of_another_schema_of_nothing_or_with_one_agent_twice_is_refused() -> None:
    for raw in (
        index().replace(b"schema_version = 1", b"schema_version = 2"),
        b"schema_version = 1\n",
        index() + index().removeprefix(b"schema_version = 1\n"),
        b"no toml",
    ):
        entries, problems = read_index(raw, "index.toml")
        assert entries == ()
        assert problems[0].fatal


def test_the_file_that_the_index_names_is_taken() -> None:
    assert refused(ENTRY, FILE, "demo.toml", bundled("1.9")) == ()
    assert refused(ENTRY, FILE, "demo.toml", None) == ()


def entry_for(content: bytes) -> Entry:
    return replace(ENTRY, sha256=hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (FILE.replace(b'"demo"', b'"other"'), "another id"),
        (FILE.replace(b"2.0", b"2.1"), "another id, version"),
        (FILE.replace(b"= 3", b"= 2"), "min_engine_version"),
        (FILE.replace(b"contains", b"contans"), "contans"),
        (FILE.replace(b'contains = ["x"]', b"regex = ['(?=x)']"), "look-around"),
        (b'schema_version = 1\nid = "demo"\n[detect]\ncomm = ["democli"]\n', "native"),
        (b'id = "demo"\nversion = "2.0"\nmin_engine_version = 3\nfamily = "x"\n', "no rules"),
        (b"#" * (LIMITS.file_bytes + 1), "256 KiB"),
        (b"\xff", "UTF-8"),
    ],
)
def test_a_file_that_is_not_good_is_refused_though_its_hash_is_right(content: bytes, word: str) -> None:
    problems = refused(entry_for(content), content, "demo.toml", bundled("1.9"))
    assert word in " ".join(str(problem) for problem in problems)


def test_another_content_than_the_index_says_is_refused() -> None:
    (problem,) = refused(ENTRY, FILE + b"\n", "demo.toml", None)
    assert "sha256" in problem.text


def test_what_is_older_than_bundled_or_needs_a_newer_engine_is_passed_over() -> None:
    assert "older" in passed_over(ENTRY, bundled("2.0.1"))
    assert "rule format 9" in passed_over(replace(ENTRY, floor=9), None)
    assert passed_over(ENTRY, bundled("1.9")) == passed_over(ENTRY, None) == ""


def test_the_bundled_version_is_the_bundled_content_or_refused() -> None:
    assert "same" in passed_over(ENTRY, bundled("2", FILE))
    other = bundled("2.0", b"other")
    assert passed_over(ENTRY, other) == ""
    (problem,) = refused(ENTRY, FILE, "demo.toml", other)
    assert "another content" in problem.text
