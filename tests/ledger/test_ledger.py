"""What is kept, what is remembered, and what is let go."""

from __future__ import annotations

import sqlite3
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.ledger.conftest import OFFSET, PROCESS, Clock, key, transition
from trayagent.ledger import Ledger, store
from trayagent.model.effects import RecordDelivery, RecordGone, RecordRead
from trayagent.model.evidence import Labels
from trayagent.model.keys import ProcessKey
from trayagent.model.settings import LedgerSettings
from trayagent.model.states import State

Begin = Callable[..., Ledger]


def test_a_thousand_transitions_are_a_thousand_rows_each_with_its_outcome(begin: Begin):
    ledger = begin()
    for id in range(1, 1001):
        ledger.record(transition(id, pane=id % 30), OFFSET)
        outcome, reason = ("delivered", "") if id % 3 else ("held", "watching")
        ledger.record(RecordDelivery(id, id + 0.5, outcome, reason, id if id % 3 else None), OFFSET)
    entries = ledger.history(5000)
    assert [entry["id"] for entry in entries] == list(range(1000, 0, -1))
    assert {(entry["outcome"], entry["held_by"]) for entry in entries} == {
        ("delivered", ""),
        ("held", "watching"),
    }
    assert len(ledger.history(5000, reason="watching")) == 333


def test_file_and_folder_are_closed_to_others(begin: Begin, path: Path):
    ledger = begin()
    ledger.record(transition(1), OFFSET)
    assert ledger.flush(5)
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_an_entry_says_where_when_and_why(begin: Begin):
    ledger = begin()
    ledger.record(transition(7, text="Run rm?"), OFFSET)
    ledger.record(RecordDelivery(7, 8.0, "delayed", "rate"), OFFSET)
    ledger.record(RecordDelivery(7, 9.0, "delivered", "", 3), OFFSET)
    (entry,) = ledger.history()
    assert entry["type"] == "transition"
    assert (entry["at"], entry["pane"], entry["agent"]) == (OFFSET + 7, "default:%1", "claude")
    assert (entry["project"], entry["before"], entry["after"]) == ("shop", "working", "blocked")
    assert (entry["outcome"], entry["alert"], entry["text"], entry["read_at"]) == (
        "delivered",
        3,
        "Run rm?",
        None,
    )
    assert entry["first_sight"] is False


def test_history_is_filtered(begin: Begin):
    ledger = begin()
    for id, (pane, state) in enumerate(
        [(1, State.BLOCKED), (15, State.DONE), (1, State.IDLE), (5, State.ERROR)], 1
    ):
        ledger.record(transition(id, state, pane=pane), OFFSET)
    ledger.record(RecordRead(key(15), 5.0, "clicked"), OFFSET)

    def ids(**filters: object) -> list[int]:
        return [entry["id"] for entry in ledger.history(**filters)]  # type: ignore[arg-type]

    assert ids(pane="default:%1") == [3, 1]
    assert ids(pane="%5") == [4]
    assert ids(pane=key(15).token) == [2]
    assert ids(since=OFFSET + 3) == [4, 3]
    assert ids(state="done") == [2]
    assert ids(unread=True) == [4]  # pane 1 has moved on, 15 was read
    assert ids(project="shop", limit=2) == [4, 3]
    assert ids(agent="codex") == []
    assert ids(pane="x' OR 1 --") == []


def test_a_restart_finds_what_was_read_read_and_what_was_not_unread(begin: Begin):
    ledger = begin()
    for id in range(1, 8):
        ledger.record(transition(id, State.DONE, pane=id), OFFSET)
        ledger.record(RecordDelivery(id, id + 0.5, "delivered", "", id), OFFSET)
    for pane in range(1, 6):
        ledger.record(RecordRead(key(pane), 10.0, "clicked"), OFFSET)
    ledger.record(RecordGone(key(7), 11.0), OFFSET)
    ledger.close()
    again = begin()
    assert [entry["pane"] for entry in again.history(unread=True)] == ["default:%6"]
    assert all(pane.alerted for pane in again.remembered())
    assert key(7) not in {pane.pane for pane in again.remembered()}


def test_a_pane_that_ended_mid_turn_is_an_entry_of_its_own(begin: Begin):
    ledger = begin()
    ledger.record(transition(1, State.WORKING), OFFSET)
    labels = Labels(project="shop", target="default:%1", agent="claude")
    ledger.record(RecordGone(key(), 2.0, ended=True, labels=labels), OFFSET)
    ledger.record(RecordGone(key(2), 3.0, labels=labels), OFFSET)
    assert [(entry["type"], entry["pane"]) for entry in ledger.history()] == [
        ("ended", "default:%1"),
        ("transition", "default:%1"),
    ]


def test_the_next_start_remembers_panes_that_have_not_left(begin: Begin):
    ledger = begin()
    ledger.record(transition(1, fingerprint="aa"), OFFSET)
    ledger.record(RecordDelivery(1, 2.0, "held", "watching"), OFFSET)
    ledger.record(transition(2, pane=2, fingerprint="bb"), OFFSET)
    ledger.record(transition(3, State.DONE, pane=3, process=None), OFFSET)
    ledger.record(RecordGone(key(3), 4.0), OFFSET)
    ledger.record(transition(4, State.IDLE, pane=4, fingerprint=""), OFFSET)
    ledger.close()
    known = {pane.pane: pane for pane in begin().remembered()}
    assert known.keys() == {key(1), key(2), key(4)}
    first = known[key(1)]
    assert (first.process, first.agent, first.state, first.fingerprint) == (
        PROCESS,
        "claude",
        State.BLOCKED,
        "aa",
    )
    assert first.since_wall == OFFSET + 1
    assert [known[key(n)].alerted for n in (1, 2, 4)] == [True, False, True]


def test_the_last_alerts_are_recalled_oldest_first_and_what_was_none_is_not(begin: Begin):
    ledger = begin()
    outcomes = [("delivered", ""), ("held", "first-sight"), ("held", "muted"), ("cancelled", "settle")]
    outcomes += [("failed", "no server"), ("held", "watching"), ("merged", "merge")]
    for id, (outcome, reason) in enumerate(outcomes, 1):
        ledger.record(transition(id, pane=id, text=f"text {id}"), OFFSET)
        ledger.record(RecordDelivery(id, id + 0.5, outcome, reason), OFFSET)
    ledger.record(RecordRead(key(5), 20.0, "clicked"), OFFSET)
    ledger.close()
    again = begin()
    assert [(one.id, one.outcome, one.held_by) for one in again.recalled(3)] == [
        (3, "held", "muted"),
        (5, "failed", "no server"),
        (7, "merged", "merge"),
    ]
    muted, read, _ = again.recalled(3)
    assert (muted.pane, muted.at_wall, muted.state) == (key(3), OFFSET + 3, State.BLOCKED)
    assert (muted.message, muted.read) == ("text 3", False)
    assert (read.message, read.read) == ("", True)
    assert (muted.labels.project, muted.labels.server, muted.labels.target) == (
        "shop",
        "default",
        "default:%3",
    )
    assert len(again.recalled(100)) == 4 and again.recalled(0) == []


def test_a_failed_or_delayed_banner_is_not_an_alert_that_was_given(begin: Begin):
    ledger = begin()
    ledger.record(transition(1), OFFSET)
    ledger.record(RecordDelivery(1, 2.0, "delayed", "rate"), OFFSET)
    ledger.record(RecordDelivery(1, 3.0, "failed", "no server", 1), OFFSET)
    assert ledger.flush(5)
    assert [pane.alerted for pane in ledger.remembered()] == [False]
    ledger.record(RecordRead(key(), 4.0, "watched"), OFFSET)
    assert ledger.flush(5)
    assert [pane.alerted for pane in ledger.remembered()] == [True]


@pytest.mark.parametrize(
    ("reason", "told"), [("quiet-hours", False), ("muted", False), ("first-sight", True)]
)
def test_what_a_hold_will_let_go_is_still_to_be_told_after_a_restart(begin: Begin, reason: str, told: bool):
    ledger = begin()
    ledger.record(transition(1), OFFSET)
    ledger.record(RecordDelivery(1, 2.0, "held", reason), OFFSET)
    assert ledger.flush(5)
    assert [pane.alerted for pane in ledger.remembered()] == [told]


def test_an_old_alerts_outcome_says_nothing_of_the_panes_new_state(begin: Begin):
    ledger = begin()
    ledger.record(transition(1), OFFSET)
    ledger.record(transition(2, before=State.BLOCKED, fingerprint="second"), OFFSET)
    ledger.record(RecordDelivery(1, 3.0, "delivered", "", 1), OFFSET)
    assert ledger.flush(5)
    assert [pane.alerted for pane in ledger.remembered()] == [False]


def test_the_generation_rises_as_the_judge_counts_it(begin: Begin):
    ledger = begin()
    steps = [State.BLOCKED, State.BLOCKED, State.WORKING, State.BLOCKED, State.IDLE, State.WORKING]
    before = State.WORKING
    for id, after in enumerate(steps, 1):
        ledger.record(transition(id, after, before=before), OFFSET)
        before = after
    assert ledger.flush(5)
    assert [pane.generation for pane in ledger.remembered()] == [2]
    ledger.record(transition(9, State.BLOCKED, process=ProcessKey(1, 2)), OFFSET)
    assert ledger.flush(5)
    assert [pane.generation for pane in ledger.remembered()] == [0]


def test_ids_rise_over_restarts_and_pruning(begin: Begin, clock: Clock):
    ledger = begin()
    assert ledger.last_ids() == (1, 1)
    ledger.record(transition(41), OFFSET)
    ledger.record(RecordDelivery(41, 42.0, "delivered", "", 17), OFFSET)
    ledger.close()
    clock.now += 200 * 86_400
    second = begin()
    assert second.flush(5)
    second.configure(LedgerSettings(keep_days=1))
    second.close()
    third = begin()
    assert third.history() == []
    assert third.last_ids() == (18, 42)


def test_ids_can_be_asked_before_the_start_with_and_without_a_file(
    path: Path, begin: Begin, reports: list[str]
):
    assert Ledger(path, report=lambda topic, text: reports.append(text)).last_ids() == (1, 1)
    ledger = begin()
    ledger.record(transition(41), OFFSET)
    ledger.close()
    assert Ledger(path, report=lambda topic, text: reports.append(text)).last_ids() == (1, 42)
    assert reports == []


def test_resolved_texts_are_gone_from_the_disk(begin: Begin, path: Path):
    secret = "delete-the-production-database"
    for resolve in (
        RecordRead(key(), 5.0, "answered"),
        RecordGone(key(), 5.0),
        transition(2, State.WORKING, before=State.BLOCKED),
    ):
        ledger = begin()
        ledger.record(replace(transition(ledger.last_ids().transition, text=secret)), OFFSET)
        assert any(entry["text"] == secret for entry in ledger.history())
        if hasattr(resolve, "id"):
            resolve = replace(resolve, id=ledger.last_ids().transition)
        ledger.record(resolve, OFFSET)
        assert all(entry["text"] is None for entry in ledger.history())
        ledger.close()
        for file in path.parent.iterdir():
            assert secret.encode() not in file.read_bytes(), (resolve, file)


def test_texts_go_after_a_day_at_the_latest(begin: Begin, clock: Clock):
    ledger = begin()
    ledger.record(transition(1, text="old"), OFFSET)
    ledger.record(transition(2, pane=2, at=50_000.0, text="young"), OFFSET)
    assert ledger.flush(5)
    clock.now = OFFSET + 86_400 + 10
    ledger.close()
    ledger = begin()
    ledger.close()
    assert [entry["text"] for entry in begin().history()] == ["young", None]


def test_rows_beyond_the_limit_go_oldest_first(begin: Begin):
    ledger = begin()
    for id in range(1, 31):
        ledger.record(transition(id, pane=id), OFFSET)
    assert ledger.flush(5)
    ledger.configure(LedgerSettings(keep_rows=10))
    ledger.close()
    after = begin()
    assert [entry["id"] for entry in after.history()] == list(range(30, 20, -1))
    assert len(after.remembered()) == 30  # what panes are like now is no history


def test_text_that_is_not_unicode_is_kept_as_far_as_it_goes(begin: Begin, reports: list[str]):
    ledger = begin()
    ledger.record(transition(1, text="caf\udce9"), OFFSET)
    (entry,) = ledger.history()
    assert entry["text"] == "caf?"
    assert reports == []


def test_a_record_that_cannot_be_stored_does_not_hold_up_the_others(begin: Begin, reports: list[str]):
    ledger = begin()
    ledger.record(transition(2**70, at=1.0), OFFSET)
    ledger.record(transition(2), OFFSET)
    ledger.record(transition(2, State.DONE, at=3.0), OFFSET)
    assert [(entry["after"], entry["at"]) for entry in ledger.history()] == [
        ("done", OFFSET + 3),
        ("blocked", OFFSET + 2),
    ]
    assert len(reports) == 1
    assert "could not be stored" in reports[0]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["transition", "delivery", "read", "gone"]),
            st.integers(0, 4),
            st.sampled_from(State),
        ),
        max_size=30,
    )
)
def test_any_order_of_records_leaves_memory_equal_to_the_last_state(
    begin: Begin, path: Path, steps: list[tuple[str, int, State]]
):
    for file in path.parent.glob("*"):
        file.unlink()
    ledger = begin()
    last: dict[int, State] = {}
    for id, (what, pane, state) in enumerate(steps, 1):
        if what == "transition":
            ledger.record(transition(id, state, pane=pane, before=last.get(pane, State.UNKNOWN)), OFFSET)
            last[pane] = state
        elif what == "delivery":
            ledger.record(RecordDelivery(id, float(id), "delivered", "", id), OFFSET)
        elif what == "read":
            ledger.record(RecordRead(key(pane), float(id), "typed"), OFFSET)
        else:
            ledger.record(RecordGone(key(pane), float(id)), OFFSET)
            last.pop(pane, None)
    assert ledger.flush(5)
    assert {pane.pane: pane.state for pane in ledger.remembered()} == {key(n): s for n, s in last.items()}
    ledger.close()


def test_records_of_one_moment_share_a_transaction(begin: Begin, monkeypatch: pytest.MonkeyPatch):
    batches: list[int] = []
    write = store.write

    def counted(connection: sqlite3.Connection, entries: list[store.Entry]) -> list[object]:
        batches.append(len(entries))
        return write(connection, entries)

    monkeypatch.setattr(store, "write", counted)
    ledger = begin()
    for id in range(1, 9):
        ledger.record(transition(id), OFFSET)
        time.sleep(0.01)
    assert ledger.flush(5)
    assert sum(batches) == 8 and len(batches) < 4
