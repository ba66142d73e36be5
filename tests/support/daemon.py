"""A real trayagent daemon for tests: a process of its own, in surroundings that are the test's own.

    with Daemon(env=desktop.env, args=["--only-server", str(server.socket)]) as daemon:
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "the prompt is noticed")
        assert daemon.cli("jump", pane).returncode == 0

Without `env` the surroundings are poor and private: HOME, the XDG folders and TMUX_TMPDIR below one
folder, no DISPLAY, no session bus, and nothing else but PATH. Leaving the block ends the daemon with
SIGTERM, which must make it exit with 0 and no traceback in its log; `kill` ends it without a chance.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from trayagent.ipc import client
from trayagent.ipc.client import NoDaemon, VerbError

DEADLINE = 30.0  # for anything to come up; generous, since machines that test are busy
RECHECK = 0.1  # seconds between two looks at what brings no event of the daemon
ROOT = Path(__file__).parent.parent.parent

Json = dict[str, Any]


def surroundings(folder: Path) -> dict[str, str]:
    """An environment of private folders below `folder`, which are made; nothing of the user's own."""
    places = {
        "HOME": "home",
        "XDG_RUNTIME_DIR": "run",
        "XDG_CONFIG_HOME": "home/.config",
        "XDG_STATE_HOME": "home/.local/state",
        "XDG_DATA_HOME": "home/.local/share",
        "XDG_CACHE_HOME": "home/.cache",
        "TMUX_TMPDIR": "tmux",
    }
    for place in places.values():
        (folder / place).mkdir(parents=True, exist_ok=True, mode=0o700)
    return {"PATH": os.environ["PATH"]} | {name: str(folder / place) for name, place in places.items()}


class Daemon:
    """One daemon. env: its whole environment (a Desktop's, or made here). config: the text of its
    config file, "" for none. args: of its command line. environ: changes to env, None removes."""

    def __init__(
        self,
        *,
        env: Mapping[str, str] | None = None,
        config: str = "",
        args: Sequence[str] = (),
        environ: Mapping[str, str | None] | None = None,
    ) -> None:
        self._own = Path(tempfile.mkdtemp(prefix="daemon-")) if env is None else None
        base = surroundings(self._own) if self._own else dict(env or {})
        # The tree that these tests belong to, whatever may be installed beside it.
        changed = {**base, "PYTHONPATH": str(ROOT), **(environ or {})}
        self.env = {name: value for name, value in changed.items() if value is not None}
        self.args = tuple(args)
        self.runtime = Path(self.env["XDG_RUNTIME_DIR"]) / "trayagent"
        self.config = Path(self.env["XDG_CONFIG_HOME"]) / "trayagent" / "config.yaml"
        self.manifests = self.config.parent / "manifests"
        self.state_folder = Path(self.env["XDG_STATE_HOME"]) / "trayagent"
        self._log = Path(self.env["HOME"]).parent / "daemon.log"
        self._news = threading.Condition()
        self._events: list[Json] = []
        self._followers: list[threading.Thread] = []
        self.process: subprocess.Popen[bytes] | None = None
        if config:
            self.write_config(config)

    # -- life ------------------------------------------------------------------------------

    def __enter__(self) -> Daemon:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.stop()
            else:
                self.kill()
        finally:
            self.kill()
            if self._own is not None:
                shutil.rmtree(self._own, ignore_errors=True)

    def start(self) -> None:
        """Start the process and return once its socket answers."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command(*self.args),
                env=self.env,
                cwd=self.env["HOME"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + DEADLINE
        while not self._answers():
            assert self.process.poll() is None, f"the daemon ended at once:\n{self.log}"
            assert time.monotonic() < end, f"the daemon does not answer:\n{self.log}"
            time.sleep(0.02)
        self._followers = [
            threading.Thread(target=self._follow, args=(verb,)) for verb in ("watch", "events")
        ]
        for follower in self._followers:
            follower.start()

    def stop(self) -> None:
        """End it as a login session does; it must take this well."""
        process = self.process
        assert process is not None, "it was not started"
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the daemon does not end on SIGTERM:\n{self.log}") from None
        self.process = None
        self._join()
        assert status == 0, f"the daemon's exit status is {status}:\n{self.log}"
        assert "Traceback" not in self.log, f"an unexpected error:\n{self.log}"

    def kill(self) -> None:
        """End it without a chance to save anything; nothing if it has ended."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(DEADLINE)
            self.process = None
        self._join()

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        """Of the process."""
        assert self.process is not None
        return self.process.pid

    @property
    def log(self) -> str:
        """All that it has written to stdout and stderr so far, over restarts too."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def said(self, text: str) -> int:
        """How many lines of the log have this text in them."""
        return sum(text in line for line in self.log.splitlines())

    def write_config(self, text: str) -> None:
        """Save the config file."""
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(text)

    # -- asking ----------------------------------------------------------------------------

    def cli(
        self, *args: str, environ: Mapping[str, str] | None = None, timeout: float = DEADLINE
    ) -> subprocess.CompletedProcess[str]:
        """Run `trayagent ARGS` where the daemon runs; never fails by itself."""
        return subprocess.run(
            self._command(*args),
            env=self.env | dict(environ or {}),
            cwd=self.env["HOME"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
        )

    def json(self, *args: str) -> Any:
        """What `trayagent ARGS --json` prints, which must succeed."""
        done = self.cli(*args, "--json")
        assert done.returncode == 0, f"{' '.join(args)}: {done.stderr}{done.stdout}"
        return json.loads(done.stdout)

    def ask(self, verb: str, **args: Any) -> Json:
        """The data of the socket's answer to a verb."""
        return client.call(verb, args, folder=self.runtime, timeout=DEADLINE)

    def list(self) -> list[Json]:
        """The panes that are listed now."""
        panes: list[Json] = self.ask("list")["panes"]
        return panes

    def pane(self, pane_id: str) -> Json | None:
        """The listed pane with this `%id`, None if there is none."""
        return next((pane for pane in self.list() if pane["pane_id"] == pane_id), None)

    def state(self, pane_id: str) -> str | None:
        """The state of a pane, None if it is not listed."""
        pane = self.pane(pane_id)
        return pane["state"] if pane else None

    def history(self, **filters: Any) -> list[Json]:
        """The ledger's entries, newest first."""
        entries: list[Json] = self.ask("history", **filters)["entries"]
        return entries

    def checks(self, name: str) -> list[Json]:
        """The lines of doctor with this name."""
        return [check for check in self.ask("doctor")["checks"] if check["name"] == name]

    def events(self) -> list[Json]:
        """All transitions and deliveries since the start, oldest first."""
        with self._news:
            return list(self._events)

    def wait_for(self, true: Callable[[], object], what: str, timeout: float = DEADLINE) -> Any:
        """Return `true()` once it holds; it is asked anew after each event of the daemon, and now and
        then for what brings none. Fails, naming `what`."""
        end = time.monotonic() + timeout
        while True:
            if found := true():
                return found
            assert self.alive, f"the daemon ended while waiting for {what}:\n{self.log}"
            assert time.monotonic() < end, f"waited {timeout:g} s in vain for {what}\n{self._account()}"
            with self._news:
                self._news.wait(RECHECK)

    # -- parts -----------------------------------------------------------------------------

    def _command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "trayagent", *args]

    def _account(self) -> str:
        """What it lists, saw and said, for the report of a failure."""
        try:
            panes = [f"{pane['pane']} {pane['agent']} {pane['state']}" for pane in self.list()]
        except (NoDaemon, VerbError) as error:
            panes = [str(error)]
        told = [
            " ".join(str(value) for name, value in event.items() if name not in ("type", "at"))
            for event in self.events()[-30:]
        ]
        return "\n".join([*panes, "-- events", *told, "-- log", *self.log.splitlines()[-40:]])

    def _answers(self) -> bool:
        try:
            return bool(client.call("version", folder=self.runtime))
        except (NoDaemon, VerbError):
            return False

    def _follow(self, verb: str) -> None:
        try:
            for item in client.stream(verb, folder=self.runtime):
                with self._news:
                    if verb == "events":
                        self._events.append(item)
                    self._news.notify_all()
        except NoDaemon:  # it has ended
            return

    def _join(self) -> None:
        for follower in self._followers:
            follower.join(DEADLINE)
        self._followers = []
