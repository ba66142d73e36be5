"""What banners and the tooltip say, and what of a foreign text gets into them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trayagent.engine import wording
from trayagent.model.evidence import Labels
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.states import Kind, Reason, State
from trayagent.model.view import PaneView

BLOCKED, DONE, ERROR, WORKING, IDLE = State.BLOCKED, State.DONE, State.ERROR, State.WORKING, State.IDLE


def pane(state: State = BLOCKED, message: str = "", **fields: object) -> PaneView:
    given = {
        "project": "shop-api",
        "branch": "",
        "since": 1000.0,
        "name": "Claude Code",
        "id": "%1",
        **fields,
    }
    labels = Labels(str(given.pop("project")), branch=str(given.pop("branch")), agent="claude")
    key = PaneKey(ServerKey("tmux", "/tmp/s", 1, 2), str(given.pop("id")))
    return PaneView(
        key, labels, "claude", state=state, source="screen", why="", server="default", session="work",
        window="w", window_index=0, pane_id=key.id, message=message, **given,  # type: ignore[arg-type]
    )  # fmt: skip


# -- titles ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("view", "title"),
    [
        (pane(), "shop-api needs you · Claude Code"),
        (pane(branch="feature/pay"), "shop-api (feature/pay) needs you · Claude Code"),
        (pane(DONE), "shop-api is done · Claude Code"),
        (pane(ERROR), "shop-api stopped with an error · Claude Code"),
        (pane(ERROR, reason=Reason.LIMIT), "shop-api hit a limit · Claude Code"),
        (pane(ERROR, reason=Reason.API), "shop-api has an API error · Claude Code"),
        (pane(ERROR, reason=Reason.AUTH), "shop-api must log in again · Claude Code"),
        (pane(ERROR, reason=Reason.CRASH), "shop-api crashed · Claude Code"),
        (pane(project=""), "work needs you · Claude Code"),
        (pane(name=""), "shop-api needs you · claude"),
        (pane(name="rsync\x1b[31m\nhome"), "shop-api needs you · rsync home"),
    ],
)
def test_the_title_says_where_what_and_who(view: PaneView, title: str) -> None:
    assert wording.single(view, 1000.0)[0] == title


def test_every_state_and_reason_can_be_worded() -> None:
    for state in State:
        for reason in (None, *Reason):
            for kind in (None, *Kind):
                title, body = wording.single(pane(state, kind=kind, reason=reason), 5000.0)
                assert title and body


def test_several_panes_are_named_in_the_title() -> None:
    views = [pane(project=name, id=name) for name in ("api", "web", "infra")]
    assert wording.merged(views, 1000.0)[0] == "api, web, infra need you"
    assert wording.merged(views[:1] * 2, 1000.0)[0] == "api ×2 need you"
    many = [pane(project=f"p{number}") for number in range(30)]
    assert wording.merged(many, 1000.0)[0] == "p0, p1, p2 and 27 more need you"


def test_need_and_done_are_told_apart_in_the_title() -> None:
    views = [pane(project="api"), pane(ERROR, project="web"), pane(DONE, project="docs")]
    assert wording.merged(views, 1000.0)[0] == "api, web need you · docs is done"
    assert wording.merged(views[1:], 1000.0)[0] == "web needs you · docs is done"


def test_a_merged_body_has_a_line_a_pane_and_says_how_many_are_missing() -> None:
    views = [pane(project=f"p{number}", message=f"Run job {number}?") for number in range(5)]
    assert wording.merged(views[:3], 1000.0)[1].split("\n") == [
        "◆ p0: Run job 0?",
        "◆ p1: Run job 1?",
        "◆ p2: Run job 2?",
    ]
    assert wording.merged(views, 1000.0)[1].split("\n") == [
        "◆ p0: Run job 0?",
        "◆ p1: Run job 1?",
        "and 3 more",
    ]


@pytest.mark.parametrize(
    ("why", "start"),
    [
        ("paused", "After the pause: "),
        ("quiet-hours", "After quiet hours: "),
        ("desktop-dnd", "After do not disturb: "),
        ("locked", "While the screen was locked: "),
        ("muted", "After the mute: "),
        ("watching", "While you were away: "),
        ("", "Meanwhile: "),
    ],
)
def test_a_digest_says_what_held_it_back(why: str, start: str) -> None:
    two = [pane(), pane(DONE)]
    assert wording.digest(two, why, 1000.0)[0] == f"{start}1 needs you, 1 done"
    assert wording.digest(two[:1], why, 1000.0)[0] == f"{start}shop-api needs you · Claude Code"


# -- bodies ------------------------------------------------------------------------------


def test_the_body_is_the_question() -> None:
    assert wording.single(pane(message="Bash command\n\n  npm test  \nRun it?"), 1000.0)[1] == (
        "Bash command\nnpm test\nRun it?"
    )


@pytest.mark.parametrize(
    ("view", "body"),
    [
        (pane(kind=Kind.PERMISSION), "Asks for permission"),
        (pane(kind=Kind.PLAN), "Has a plan to approve"),
        (pane(), "Waits for an answer"),
        (pane(DONE), "The turn has ended"),
        (pane(ERROR, reason=Reason.LIMIT), "The usage limit is reached"),
        (pane(message=" \x1b[0m \u200b\n"), "Waits for an answer"),
    ],
)
def test_a_pane_without_a_message_is_worded_by_us(view: PaneView, body: str) -> None:
    assert wording.single(view, 1000.0)[1] == body


def test_a_long_wait_is_said_and_still_fits() -> None:
    asked = pane(message="line one\nline two\nline three", since=0.0)
    assert wording.single(asked, 8 * 3600.0)[1] == "line one\nline two …\nwaiting for 8 h"
    assert wording.single(pane(DONE, "ready", since=0.0), 720.0)[1] == "ready\n12 min ago"
    assert wording.single(pane(message="a", since=0.0), 59.9)[1] == "a"


@pytest.mark.parametrize("text", ["full", "short", "none"])
@pytest.mark.parametrize("now", [1000.0, 90000.0])
def test_a_body_has_at_most_three_lines_and_240_characters(text: str, now: float) -> None:
    views = [pane(message="The word " * 2500, project="x" * 200, branch="y" * 300)] * 5
    for title, body in (
        wording.single(views[0], now, text),
        wording.merged(views, now, text),
        wording.digest(views, "paused", now, text),
    ):
        assert len(body) <= 240 and body.count("\n") <= 2 and len(title) <= 400 and "\n" not in title


def test_a_question_of_twenty_kilobytes_is_cut_at_a_word() -> None:
    body = wording.single(pane(message="Shall I really delete everything " * 600), 1000.0)[1]
    assert body.endswith((" delete …", " really …", " everything …", " Shall …", " I …")) and len(body) > 220


def test_short_and_none_tell_less() -> None:
    view = pane(message="Bash command: " + "x" * 60 + " and so on and so on\nsecond", kind=Kind.PERMISSION)
    short = wording.single(view, 1000.0, "short")[1]
    assert "\n" not in short and len(short) <= 80 and short.startswith("Bash command")
    assert wording.single(view, 1000.0, "none")[1] == "Asks for permission"
    assert "Bash" not in wording.merged([view, view], 1000.0, "none")[1]
    assert "Bash" not in wording.digest([view, view], "paused", 1000.0, "none")[1]


# -- foreign text ------------------------------------------------------------------------


def test_markup_stays_what_it_is() -> None:
    text = "a & b <3 <b>x</b> </i> <a href=x> <img src=y>"
    assert wording.single(pane(message=text), 1000.0)[1] == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after\x1b]8;;http://x\x1b\\link", "afterlink"),
        ("\x1bPq#0\x1b\\x\x1b(By\x9b31mz", "xyz"),
        ("bell\x07 back\x08 null\x00 del\x7f", "bell back null del"),
        ("safe\u202etxt.exe\u202c \u2066x\u2069 \u200e\u200f\u061c", "safetxt.exe x"),
        ("zero\u200bwidth\u00adsoft\ufeffbom\u2060", "zerowidthsoftbom"),
        ("a\r\nb\rc\x0bd\u2028e", "a\nb\nc"),
        ("tab\there", "tab here"),
        ("lone \ud800 half", "lone half"),
        ("tag \U000e0041\U000e0042 end", "tag end"),
        ("👩‍💻 مرحبا שלום ✔️", "👩‍💻 مرحبا שלום ✔️"),
        ("unterminated \x1b]0;swallowed to the end", "unterminated"),
    ],
)
def test_controls_and_direction_marks_are_gone_and_languages_stay(text: str, left: str) -> None:
    assert wording.excerpt(text).removesuffix(" …") == left


def test_secrets_are_masked_before_anything_is_cut() -> None:
    secret = "sk-ant-api03-" + "Ab3dEf6hIj9k" * 8
    for at in (0, 100, 200, 230):
        body = wording.single(pane(message="x" * at + f" export KEY={secret}"), 1000.0)[1]
        assert "Ab3dEf6h" not in body


def test_a_secret_that_hides_behind_invisible_characters_is_masked() -> None:
    hidden = "ghp_\u200bA1b2C3d4E5f6\x1b[0mG7h8I9j0K1l2M3n4O5p6Q7r8"
    assert "G7h8I9j0" not in wording.excerpt(f"token {hidden}")


@given(st.text(max_size=400), st.integers(1, 3), st.integers(20, 240))
def test_any_text_becomes_plain_and_fits(text: str, lines: int, length: int) -> None:
    result = wording.excerpt(text, lines, length)
    assert len(result) <= length and len(result.split("\n")) <= lines
    assert not any(
        unicodedata.category(char) in ("Cc", "Cf", "Cs") and char not in "\n\u200c\u200d" for char in result
    )
    assert all(row == row.strip() and row for row in result.split("\n")) or not result


@given(st.text(st.characters(codec="utf-8"), max_size=300), st.integers(10, 100))
def test_cut_keeps_a_prefix(text: str, length: int) -> None:
    result = wording.cut(text, length)
    assert len(result) <= length
    assert result == text or text.startswith(result[:-2].rstrip())


# -- lists -------------------------------------------------------------------------------


def test_the_tooltip_counts_and_names_the_longest_wait() -> None:
    views = [
        pane(since=280.0), pane(ERROR, since=900.0), pane(WORKING), pane(WORKING), pane(WORKING), pane(DONE),
        pane(IDLE),
    ]  # fmt: skip
    assert wording.tooltip(views, 1000.0) == "2 need you, 3 working, 1 done · longest wait 12 min"


@pytest.mark.parametrize(
    ("states", "text"),
    [
        ([], "No agents"),
        ([BLOCKED], "1 needs you · longest wait under 1 min"),
        ([WORKING, IDLE], "1 working"),
        ([IDLE, IDLE, State.UNKNOWN], "2 idle, 1 unknown"),
        ([DONE], "1 done"),
    ],
)
def test_the_tooltip_of_other_moments(states: list[State], text: str) -> None:
    assert wording.tooltip([pane(state) for state in states], 1000.0) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "under 1 min"),
        (59.9, "under 1 min"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (3900, "1 h 5 min"),
        (8 * 3600, "8 h"),
        (36000 + 300, "10 h"),
        (48 * 3600, "2 days"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert wording.duration(seconds) == text
