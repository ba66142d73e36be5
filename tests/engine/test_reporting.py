"""Programs that no table knows, listed because they report about themselves."""

from __future__ import annotations

from tests.support.house import Actor, House, process_of
from trayagent.model.evidence import Claim
from trayagent.model.keys import ProcessKey
from trayagent.model.states import State


def says(
    house: House,
    actor: Actor,
    state: State | None,
    owner: ProcessKey | None = None,
    message: str = "",
    agent: str = "rsync",
) -> None:
    """The actor's own program, or another owner, reports."""
    owner = owner or process_of(actor)
    house.feed(Claim(actor.key, "report", state, house.now, agent=agent, message=message, owner=owner))


def listed(house: House, actor: Actor) -> bool:
    return any(view.key == actor.key for view in house.engine.views(house.now))


def test_a_program_that_is_no_agent_is_listed_while_it_reports() -> None:
    house = House()
    backup = house.pane("backup", agent="rsync")
    house.run(1)
    assert not listed(house, backup)
    says(house, backup, State.WORKING, message="Syncing photos")
    view = house.view(backup)
    assert (view.agent, view.state, view.message, view.identity) == (
        "rsync",
        State.WORKING,
        "Syncing photos",
        "report",
    )
    assert view.process == process_of(backup)


def test_what_it_ended_with_stays_until_it_was_seen_and_then_the_pane_is_gone() -> None:
    house = House()
    backup = house.pane("backup", agent="rsync")
    house.run(1)
    says(house, backup, State.WORKING)
    house.run(20)
    says(house, backup, State.DONE, message="Photos synced")
    house.end(backup)
    house.run(60)
    assert house.state(backup) is State.DONE
    house.type(backup)
    house.run(5)
    assert not listed(house, backup)


def test_its_crash_in_the_middle_is_an_error() -> None:
    house = House()
    backup = house.pane("backup", agent="rsync")
    house.run(1)
    says(house, backup, State.WORKING)
    house.run(20)
    house.end(backup, status=11)
    house.run(2)
    assert house.state(backup) is State.ERROR


def test_a_release_takes_it_off_the_list() -> None:
    house = House()
    backup = house.pane("backup", agent="rsync")
    house.run(1)
    says(house, backup, State.WORKING)
    house.run(5)
    house.feed(Claim(backup.key, "report", None, house.now, owner=process_of(backup)))
    house.run(5)
    assert not listed(house, backup)


def test_the_panes_own_shell_may_report_and_keeps_its_place_while_its_commands_run() -> None:
    house = House()
    shell = house.pane("deploy", agent=None)
    assert shell.shell is not None
    house.run(1)
    says(house, shell, State.WORKING, shell.shell.key, agent="bash")
    house.start(shell, "make")
    house.run(30)
    assert house.state(shell) is State.WORKING
    says(house, shell, State.BLOCKED, shell.shell.key, agent="bash")
    house.end(shell)
    house.run(30)
    assert house.state(shell) is State.BLOCKED


def test_an_agent_that_reports_as_it_starts_loses_nothing_when_its_process_is_recognised() -> None:
    house = House()
    api = house.pane("api", agent=None)
    house.run(1)
    house.start(api)
    assert api.agent is not None
    says(house, api, State.BLOCKED, message="Approve the change", agent="robot")
    house.run(3)
    view = house.view(api)
    assert (view.state, view.message, view.agent) == (State.BLOCKED, "Approve the change", "robot")


def test_a_claim_of_an_ended_process_says_nothing_about_its_successor() -> None:
    house = House()
    api = house.pane("api")
    house.run(1)
    says(house, api, State.BLOCKED, agent="robot")
    house.run(1)
    house.end(api)
    house.run(10)
    house.start(api)
    house.show(api, "FREE")
    house.run(5)
    assert house.state(api) is State.IDLE
