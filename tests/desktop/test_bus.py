"""The one connection to the session bus: found, lost, found again, and never in anybody's way."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from dbus_fast import Message

from tests.desktop.sni_ends import until
from tests.support.desktop import Desktop
from trayagent.desktop.bus import BUS_NAME, BUS_PATH, BusError, SessionBus
from trayagent.desktop.busplace import addresses, runtime_folder

pytestmark = pytest.mark.desktop


@pytest.fixture
def buses() -> Iterator[Desktop]:
    with Desktop(screen=False) as private:
        yield private


async def names(bus: SessionBus, timeout: float = 5.0) -> list[str]:
    (found,) = await bus.call(BUS_NAME, BUS_PATH, BUS_NAME, "ListNames", timeout=timeout)
    return list(found)


async def test_a_bus_that_is_there_is_used_by_the_first_call(buses: Desktop) -> None:
    bus = SessionBus(environ=buses.env)
    assert not bus.connected
    found = await names(bus)
    assert bus.unique_name in found
    assert bus.problems() == ()
    await bus.close()
    assert not bus.connected


async def test_no_bus_is_a_problem_told_once_and_the_bus_is_found_when_it_comes(
    buses: Desktop, caplog: pytest.LogCaptureFixture
) -> None:
    buses.stop("dbus")
    (buses.run_dir / "bus").unlink(missing_ok=True)
    changes: list[bool] = []
    bus = SessionBus(changes.append, environ=buses.env)
    assert not await bus.wait(5.0)
    with pytest.raises(BusError) as failure:
        await names(bus)
    assert failure.value.name == "no-bus"
    (problem,) = bus.problems()
    assert "no session bus" in problem
    await asyncio.sleep(1.0)  # several attempts
    assert [record.levelname for record in caplog.records].count("WARNING") == 1
    buses.start_bus()
    await until(lambda: bus.connected, "the connection")
    assert changes == [True]
    assert bus.problems() == ()
    await bus.close()


async def test_a_bus_that_restarts_is_found_again_and_users_are_told_each_time(buses: Desktop) -> None:
    changes: list[bool] = []
    bus = SessionBus(changes.append, environ=buses.env)
    assert await bus.wait(5.0)
    for _ in range(3):
        buses.stop("dbus")
        await until(lambda: not bus.connected, "the loss")
        buses.start_bus()
        await until(lambda: bus.connected, "the new connection")
    assert changes == [True, False, True, False, True, False, True]
    await bus.close()


async def test_a_bus_that_does_not_read_for_a_moment_loses_neither_connection_nor_messages(
    buses: Desktop, caplog: pytest.LogCaptureFixture
) -> None:
    bus, other = SessionBus(environ=buses.env), SessionBus(environ=buses.env)
    await bus.wait(5.0)
    await other.wait(5.0)
    heard: list[int] = []
    end = other.watch_signal("org.example.Big", "Big", lambda body: heard.append(len(body[0])))
    await names(other)  # its match rule is in force
    name, size = bus.unique_name, 100_000
    connection = bus._connection
    assert connection is not None
    buses.programs["dbus"].send_signal(signal.SIGSTOP)
    for _ in range(30):  # fourteen times what the socket's buffer holds
        connection.send(Message.new_signal("/big", "org.example.Big", "Big", "ay", [b"x" * size]))
        await asyncio.sleep(0)
    buses.programs["dbus"].send_signal(signal.SIGCONT)
    await until(lambda: len(heard) == 30, "all messages")
    assert set(heard) == {size}
    assert bus.connected and bus.unique_name == name
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
    end()
    await bus.close()
    await other.close()


async def test_the_owner_of_a_name_is_told_at_once_and_at_each_change(buses: Desktop) -> None:
    owners: list[str] = []
    bus, other = SessionBus(environ=buses.env), SessionBus(environ=buses.env)
    await bus.wait(5.0)
    end = bus.watch_name("org.example.Some", owners.append)
    await until(lambda: owners == [""], "nobody")
    await other.request_name("org.example.Some")
    await until(lambda: owners == ["", other.unique_name], "the owner")
    await other.release_name("org.example.Some")
    await until(lambda: owners[-1] == "", "nobody again")
    end()
    await other.request_name("org.example.Some")
    await names(bus)
    assert len(owners) == 3
    await other.close()
    await bus.close()


async def test_watches_survive_a_restart_of_the_bus(buses: Desktop) -> None:
    owners: list[str] = []
    beeps: list[object] = []
    bus = SessionBus(environ=buses.env)
    bus.watch_name("org.example.Some", owners.append)
    bus.watch_signal("org.example.Beeper", "Beep", lambda body: beeps.append(body[0]))
    await bus.request_name("org.example.Some")
    await until(lambda: owners and owners[-1] == bus.unique_name, "ourselves as the owner")
    buses.stop("dbus")
    await until(lambda: owners[-1] == "", "the loss of the owner")
    buses.start_bus()
    await until(lambda: bus.connected, "the new connection")
    await bus.request_name("org.example.Some")
    await until(lambda: owners[-1] == bus.unique_name, "the owner again")
    await names(bus)  # the bus answers in order: the match rules are in place now
    buses.run("dbus-send", "--session", "/", "org.example.Beeper.Beep", "string:hello")
    await until(lambda: beeps == ["hello"], "the signal")
    await bus.close()


async def test_a_bus_that_hangs_costs_a_timeout_and_nothing_else(buses: Desktop) -> None:
    bus = SessionBus(environ=buses.env)
    await bus.wait(5.0)
    buses.programs["dbus"].send_signal(signal.SIGSTOP)
    with pytest.raises(BusError) as failure:
        await names(bus, timeout=0.2)
    assert failure.value.name == "timeout"
    buses.programs["dbus"].send_signal(signal.SIGCONT)
    assert bus.unique_name in await names(bus)
    await bus.close()


async def test_errors_come_back_as_bus_errors_with_their_name(buses: Desktop) -> None:
    bus = SessionBus(environ=buses.env)
    with pytest.raises(BusError) as failure:
        await bus.call("org.example.Nobody", "/", "org.example.Nobody", "Speak")
    assert failure.value.name == "org.freedesktop.DBus.Error.ServiceUnknown"
    await bus.close()


async def test_a_callback_that_raises_harms_nobody_else(
    buses: Desktop, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(connected: bool) -> None:
        raise ValueError("mine")

    changes: list[bool] = []
    bus = SessionBus(broken, environ=buses.env)
    bus.subscribe(changes.append)
    assert await bus.wait(5.0)
    assert changes == [True]
    assert "callback" in caplog.text
    await bus.close()


async def test_who_subscribes_late_hears_of_the_connection_that_is_there(buses: Desktop) -> None:
    bus = SessionBus(environ=buses.env)
    await bus.wait(5.0)
    changes: list[bool] = []
    bus.subscribe(changes.append)
    await until(lambda: changes == [True], "the news")
    await bus.close()


def test_a_stale_variable_leads_to_the_login_session_and_a_private_folder_does_not(tmp_path: Path) -> None:
    stale = "unix:path=/tmp/dbus-of-a-session-that-ended"
    inside_old_tmux = {"DBUS_SESSION_BUS_ADDRESS": stale, "XDG_RUNTIME_DIR": str(tmp_path)}
    assert addresses(inside_old_tmux) == (stale, f"unix:path={tmp_path}/bus")
    assert runtime_folder({"XDG_RUNTIME_DIR": str(tmp_path / "gone")}).parent == Path("/run/user")
    assert runtime_folder({}).parent == Path("/run/user")
    assert addresses({"XDG_RUNTIME_DIR": str(tmp_path)}) == (f"unix:path={tmp_path}/bus",)


async def test_a_stale_address_is_passed_over(buses: Desktop) -> None:
    stale = buses.env | {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"}
    bus = SessionBus(environ=stale)
    assert await bus.wait(5.0)
    await bus.close()
