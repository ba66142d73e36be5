"""What a config text means, and what is said about one that is wrong."""

# ruff: noqa: E501

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trayagent.config import nodes, schema
from trayagent.config.example import example, reference
from trayagent.config.parse import parse
from trayagent.model.settings import MuteRule, QuietSpan, Settings, StateSwitches
from trayagent.model.states import State

DAILY = frozenset(range(7))


def settings_of(text: str) -> Settings:
    parsed = parse(text)
    assert parsed.problems == (), [problem.render("f") for problem in parsed.problems]
    assert parsed.settings is not None
    return parsed.settings


def said(text: str) -> list[str]:
    return [problem.render("c.yaml") for problem in parse(text).problems]


def leaves(value: Any, path: str = "") -> list[str]:
    found: list[str] = []
    for field in dataclasses.fields(value):
        inner, name = getattr(value, field.name), f"{path}.{field.name}".lstrip(".")
        found += leaves(inner, name) if dataclasses.is_dataclass(inner) else [name]
    return found


# -- the table -------------------------------------------------------------------------------


def test_the_table_and_the_settings_hold_the_same_keys():
    assert sorted(key.target for key in schema.KEYS) == sorted(leaves(Settings()))
    sections = {path.rpartition(".")[0] for path in schema.BY_PATH} - {""}
    assert sections <= schema.GROUP_BY_PATH.keys()


def test_every_default_is_written_in_a_form_that_reads_back_as_itself():
    for key in schema.KEYS:
        *sections, last = key.path.split(".")
        head = "".join(f"{'  ' * depth}{name}:\n" for depth, name in enumerate(sections))
        text = f"{head}{'  ' * len(sections)}{last}: {key.type.example(key.default)}\n"
        assert settings_of(text) == Settings(), key.path
        assert key.doc.endswith(".")
        assert len(key.type.form) > 3


def test_the_example_file_says_nothing_until_a_key_is_uncommented_and_the_defaults_then():
    text = example()
    assert settings_of(text) == Settings()
    live = re.sub(r"^(\s*)# ([a-z_]+: )", r"\1\2", text, flags=re.M)
    assert live.count("\n") == text.count("\n")
    assert settings_of(live) == Settings()
    assert all(f"{key.path.rpartition('.')[2]}: " in text for key in schema.KEYS)
    assert len(reference()) == len(schema.KEYS)


# -- friendly forms ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("1.5", 1.5), ("2 s", 2), ("2s", 2), ("450 ms", 0.45), ("5 min", 300), ("5m", 300), ("1 h", 3600),
     ("off", 0), ("no", 0), ("0", 0), ("'3 s'", 3), (".5", 0.5), ("1 Hour", 3600)],
)  # fmt: skip
def test_durations_are_written_as_people_write_them(written: str, seconds: float):
    assert settings_of(f"alerts: {{short_turn: {written}}}").alerts.short_turn == seconds


@pytest.mark.parametrize(
    "written", ["5 parsecs", "-1", "1e3", "nan", ".inf", "1:30", "[1]", "''", "8 d", "1 h 5 min"]
)
def test_what_is_no_duration_is_refused_with_an_example(written: str):
    (message,) = said(f"alerts:\n  short_turn: {written}\n")
    assert message.startswith("c.yaml:2:15: alerts.short_turn: ")
    assert re.search(r"1 h|range|duration", message)


@pytest.mark.parametrize(
    ("written", "spans"),
    [
        ("22:00-07:00", (QuietSpan(1320, 420),)),
        ("22:00 - 7:00", (QuietSpan(1320, 420),)),
        ("[mon-fri 22:00-07:00, 'sat, sun 23:30-10:00']",
         (QuietSpan(1320, 420, frozenset(range(5))), QuietSpan(1410, 600, frozenset({5, 6})))),
        ("{spans: [{days: mon-fri, from: 22:00, to: 07:00}]}", (QuietSpan(1320, 420, frozenset(range(5))),)),
        ("{spans: {days: [fri-mon, Wednesday], from: 0:00, to: 24:00}}", None),
        ("{spans: {days: weekends, from: 12:00, to: 24:00}}", (QuietSpan(720, 0, frozenset({5, 6})),)),
        ("off", ()),
        ("[]", ()),
    ],
)  # fmt: skip
def test_quiet_hours_are_written_as_people_write_them(written: str, spans: tuple[QuietSpan, ...] | None):
    parsed = parse(f"quiet_hours: {written}")
    assert parsed.settings is not None
    if spans is None:  # midnight to midnight: equal ends
        assert parsed.settings.quiet_hours.spans == (QuietSpan(0, 0, frozenset({4, 5, 6, 0, 2})),)
        assert "switches it off" in parsed.problems[0].text
    else:
        assert parsed.settings.quiet_hours.spans == spans
        assert parsed.problems == ()


def test_an_unquoted_time_is_a_time_and_minutes_since_midnight_are_explained():
    assert settings_of("quiet_hours:\n  spans:\n  - from: 22:00\n    to: 07:00\n").quiet_hours.spans
    (message,) = said("quiet_hours: {spans: [{from: 1320, to: 07:00}]}")
    assert "'1320' is no time" in message
    assert "22:00" in message


def test_yes_no_on_off_are_what_they_say_in_every_case():
    for word, value in {
        "no": False,
        "Off": False,
        "FALSE": False,
        "yes": True,
        "on": True,
        "true": True,
    }.items():
        assert settings_of(f"alerts: {{enabled: {word}}}").alerts.enabled is value
    assert settings_of("sounds: {mode: off}").sounds.mode == "off"
    assert settings_of("tray: {backend: no}").tray.backend == "off"
    assert settings_of("alerts: {states: off}").alerts.states == StateSwitches(False, False, False)


def test_states_switches_mutes_and_names_of_ones_own():
    settings = settings_of(
        """
alerts:
  states: [blocked, error]
  agents:
    codex: [blocked]
    aider: off
    claude: {done: no}
  projects: {notes: off, '007': on}
  mute:
  - project: [notes, play]
  - {agent: aider}
  critical: blocked
quiet_hours: {allow: all}
sounds:
  volume: 60 %
  states: {blocked: ~/knock.ogg, done: off}
detect: {agents: {my-claude: claude}}
manifests: {import: [herdr, thinkterm]}
watch: {tmux: {sockets: /tmp/one.sock}}
"""
    )
    alerts = settings.alerts
    assert alerts.states == StateSwitches(done=False)
    assert dict(alerts.agents) == {
        "codex": StateSwitches(error=False, done=False),
        "aider": StateSwitches(False, False, False),
        "claude": StateSwitches(done=False),
    }
    assert dict(alerts.projects) == {"notes": StateSwitches(False, False, False), "007": StateSwitches()}
    assert alerts.mute == (
        MuteRule("project", "notes"),
        MuteRule("project", "play"),
        MuteRule("agent", "aider"),
    )
    assert alerts.critical == {State.BLOCKED}
    assert settings.quiet_hours.allow == {State.BLOCKED, State.ERROR, State.DONE}
    assert settings.sounds.volume == 0.6
    assert settings.sounds.states == (("blocked", "~/knock.ogg"), ("done", "off"))
    assert settings.detect.agents == (("my-claude", "claude"),)
    assert settings.manifests.imports == ("herdr", "thinkterm")
    assert settings.watch.tmux.sockets == ("/tmp/one.sock",)


def test_profiles_name_folders_by_globs_in_which_the_home_folder_is_a_tilde(monkeypatch):
    monkeypatch.setenv("HOME", "/home/u")
    settings = settings_of(
        """
alerts:
  remind: {after: 10 min}
  escalate_sound: 5 min
  profiles:
  - {path: ~/play/*, states: off, sounds: off}
  - path: [/srv/a, ~/work/]
    quiet_hours: mon-fri 18:00-09:00
    sounds: {blocked: ~/knock.ogg}
"""
    )
    play, work = settings.alerts.profiles
    assert play.paths == ("/home/u/play/*",) and play.states == StateSwitches(False, False, False)
    assert dict(play.sounds) == {"blocked": "off", "done": "off", "error": "off"} and play.quiet is None
    assert work.paths == ("/srv/a", "/home/u/work") and work.states is None
    assert work.quiet == (QuietSpan(18 * 60, 9 * 60, frozenset(range(5))),)
    assert work.sounds == (("blocked", "~/knock.ogg"),)
    assert (settings.alerts.remind.after, settings.alerts.escalate_sound) == (600, 300)


def test_a_sink_is_a_named_program_and_says_what_it_wants():
    settings = settings_of(
        "alerts: {sinks: {phone: {command: [push, a b], when: away, after: 10 min, states: all, text: none}}}"
    )
    (sink,) = settings.alerts.sinks
    assert (sink.name, sink.command, sink.when, sink.after) == ("phone", ("push", "a b"), "away", 600)
    assert sink.states == {State.BLOCKED, State.ERROR, State.DONE} and sink.text == "none"


@pytest.mark.parametrize(
    ("sink", "expected"),
    [
        ("{when: away}", "has no command"),
        ("{command: push it}", "takes a list"),
        ("{command: []}", "names no program"),
        ("{command: [push], whne: away}", "did you mean when"),
        ("push", "takes a mapping"),
    ],
)
def test_a_sink_that_makes_no_sense_is_told_with_its_place(sink, expected):
    (line,) = said(f"alerts:\n  sinks:\n    phone: {sink}\n")
    assert line.startswith("c.yaml:3:") and expected in line


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("{states: off}", "a profile needs a path"),
        ("{path: work}", "is no path"),
        ("{path: /a, stats: off}", "did you mean states"),
        ("/a", "takes a list of {path"),
    ],
)
def test_a_profile_that_makes_no_sense_is_told_with_its_place(profile, expected):
    (line,) = said(f"alerts:\n  profiles:\n  - {profile}\n")
    assert line.startswith("c.yaml:3:") and expected in line


def test_anchors_aliases_and_merge_keys_work():
    text = """
x: &short {blocked: 3 s, other: &long 4 s}
alerts:
  settle: {<<: *short, blocked: 5 s}
  merge: *long
"""
    parsed = parse(text)
    assert parsed.settings is not None
    assert parsed.settings.alerts.settle.blocked == 5
    assert parsed.settings.alerts.settle.other == 4
    assert parsed.settings.alerts.merge == 4
    assert [problem.key for problem in parsed.problems] == ["x"]


# -- what is wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("notfication: 1", "c.yaml:1:1: notfication: warning: is not known and has no effect (did you mean notify?)"),
        ("alerts:\n  setle:\n    blocked: 1", "c.yaml:2:3: alerts.setle: warning: is not known and has no effect (did you mean settle?)"),
        ("settle: {blocked: 1}", "c.yaml:1:1: settle: warning: is not known and has no effect (did you mean alerts.settle?)"),
        ("sounds: {mode: adio}", "c.yaml:1:16: sounds.mode: 'adio' is not one of audio, bell, both, off (did you mean audio?)"),
        ("alerts:\n  enabled: maybe", "c.yaml:2:12: alerts.enabled: 'maybe' is neither on nor off"),
        ("sounds: {volume: 150}", "c.yaml:1:18: sounds.volume: 150 is out of range: 0 to 1"),
        ("tray: {fold: 2.5}", "c.yaml:1:14: tray.fold: '2.5' is not a whole number from 1 to 100"),
        ("alerts: {settle: 3}", "c.yaml:1:18: alerts.settle: must be a mapping with blocked, other"),
        ("tray: [auto]", "c.yaml:1:7: tray: must be a mapping with backend, fold, recent"),
        ("quiet_hours: {zone: Europe/Berln}", "c.yaml:1:21: quiet_hours.zone: 'Europe/Berln' is no time zone (did you mean Europe/Berlin?)"),
        ("quiet_hours: mno-fri 22:00-07:00", "c.yaml:1:14: quiet_hours: 'mno' is no day; write mon-fri, sat or weekends (did you mean mon?)"),
        ("alerts: {mute: [{projet: x}]}", "c.yaml:1:18: alerts.mute: 'projet' is not one of project, agent, session (did you mean project?)"),
        ("alerts: {agents: {codex: {don: off}}}", "c.yaml:1:27: alerts.agents: 'don' is not one of blocked, error, done (did you mean done?)"),
        ("alerts:\n  merge:\n", "c.yaml:2:9: alerts.merge: warning: has no value; the default (3 s) is used"),
        ("alerts:\n\tmerge: 1", "c.yaml:2:1: a tab: YAML is indented with spaces"),
        ("a: *b", "c.yaml:1:4: *b names nothing; anchors before it: none"),
        ("x: &x {<<: *x}", "c.yaml:1:12: *x stands inside of what it names"),
        ("[a]: 1", "c.yaml:1:1: a key must be a single word, not a list or a mapping"),
        ("- 1", "c.yaml:1:1: must be a mapping with watch, detect, manifests, alerts, quiet_hours, sounds, tray, notify, ledger"),
        ("a: 1\n---\nb: 2", "c.yaml:2:1: a second document begins here (---); there can be only one"),
        ("a: \x07", "c.yaml:1:4: the character U+0007 is not allowed"),
        ("tray: {<<: 5}", "c.yaml:1:8: <<: can only merge mappings (*name, or a list of them)"),
    ],
)  # fmt: skip
def test_each_problem_has_its_place_its_key_and_a_way_out(text: str, message: str):
    assert message in said(text)


def test_a_key_that_is_there_twice_is_an_error_that_names_both_lines():
    parsed = parse("alerts:\n  merge: 1\n  short_turn: 2\n  merge: 3\n")
    assert parsed.settings is None
    (problem,) = parsed.problems
    assert (problem.line, problem.column, problem.key) == (4, 3, "merge")
    assert "line 2" in problem.text
    assert "line 4" in problem.text


def test_all_problems_of_a_file_are_told_in_its_order():
    messages = said("tray: {fold: x}\nfoo: 1\nalerts:\n  merge: y\n  merge: z\n")
    assert [message.split(": ")[0] for message in messages] == [
        "c.yaml:1:14", "c.yaml:2:1", "c.yaml:4:10", "c.yaml:5:3",
    ]  # fmt: skip


def test_half_written_yaml_is_an_error_with_its_line():
    text = example() + "alerts:\n  states: [blocked, err"
    parsed = parse(text)
    assert parsed.settings is None
    assert parsed.problems[0].line == text.count("\n") + 1


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# only a comment\n", "---\n", "~", "null", "{}", "\ufeff", "\ufefftray: {fold: 3}"]
)
def test_a_text_that_says_nothing_is_the_defaults(text: str):
    assert settings_of(text).alerts == Settings().alerts


# -- bounds ----------------------------------------------------------------------------------


def test_bombs_are_refused_quickly():
    laughs = "a0: &a0 {x: 1}\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
    )
    assert parse(laughs).settings is not None  # unknown keys, never expanded
    merges = "a0: &a0 {x0: 1}\n" + "".join(
        f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], x{n}: 1}}\n" for n in range(1, 60)
    )
    assert parse(f"{merges}tray: {{<<: *a59}}\n").settings is not None
    assert "levels deep" in parse("a: " + "[" * 5000).problems[0].text
    assert "levels deep" in parse("".join(f"{' ' * n}a:\n" for n in range(300))).problems[0].text
    assert "values" in parse("a: [" + "1, " * 20_000 + "]").problems[0].text
    assert "KiB" in parse("# " + "x" * nodes.MAX_CHARACTERS).problems[0].text


@given(st.text(max_size=200))
def test_no_text_raises(text: str):
    parsed = parse(text)
    assert parsed.settings is not None or parsed.errors


YAMLISH = st.lists(
    st.sampled_from(["alerts:", "  settle:", " blocked: 1", "- ", "&a ", "*a", "<<: ", "{", "}", "[", "]", "\n", "#", "'", '"', "|\n", ": ", "quiet_hours: ", "22:00-07:00", "off", "!x ", "? ", "\t", "---\n"]),
    max_size=25,
)  # fmt: skip


@given(YAMLISH)
def test_no_broken_yaml_raises(pieces: list[str]):
    parsed = parse("".join(pieces))
    assert parsed.settings is not None or parsed.errors
