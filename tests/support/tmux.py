"""A private tmux server for tests: its own folder, its own socket, no configuration, gone at the end.

    with TmuxServer("a") as server:
        pane = server.new_session("x y", "printf 'hello'; sleep 600")
        server.wait(lambda: "hello" in server.screen(pane), "the greeting")
        with server.attach(columns=100, rows=30) as client:
            ...

The folder holds `.trayagent-ignore`, so that a trayagent that somebody really uses leaves the server
alone; `ignored=False` for tests of discovery (or name the socket with `--only-server`). The environment
has no LANG, no TMUX and no HOME of the user. Teardown is `kill-server` on this very socket; the only
processes that are ever signalled are the server of the object itself (`pause`) and clients that it started.
"""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from trayagent.sources.tmux import wire

DEADLINE = 20.0  # for anything to come up; generous, since machines that test are busy
IDLE = "exec sleep 100000"

# Makes the terminal on its standard input the controlling one, then becomes the command.
_CONTROL = (
    "import fcntl,os,sys,termios;os.setsid();fcntl.ioctl(0,termios.TIOCSCTTY,0);"
    "os.execvp(sys.argv[1],sys.argv[1:])"
)


def wait_until(true: Callable[[], object], what: str, deadline: float = DEADLINE) -> None:
    """Return once `true()` holds; fail, naming `what`, after `deadline` seconds."""
    end = time.monotonic() + deadline
    while not true():
        assert time.monotonic() < end, f"waited {deadline:g} s in vain for {what}"
        time.sleep(0.01)


def named(argv0: str, *command: str) -> str:
    """A pane's command line that runs `command` under the name `argv0`: `named("claude", "sleep", "9")`."""
    return "exec bash -c " + shlex.quote(f"exec -a {shlex.quote(argv0)} {shlex.join(command)}")


class AttachedClient:
    """A `tmux attach` in a pty of its own, read and discarded; or any other client process."""

    def __init__(self, server: TmuxServer, process: subprocess.Popen[bytes], master: int) -> None:
        self.pid = process.pid
        self.closed = False
        self._server = server
        self._process = process
        self._master = master
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()

    @property
    def name(self) -> str:
        """tmux's name of this client, "" while it is not attached."""
        return self._value("client_name")

    @property
    def shows(self) -> str:
        """`$session @window %pane` that the client shows, "" while it is not attached."""
        return self._value("session_id} #{window_id} #{pane_id")

    def type(self, keys: bytes) -> None:
        """Press keys in the client's terminal."""
        os.write(self._master, keys)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the client's terminal."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wake(self) -> None:
        """Let a client go on that was suspended (suspend-client)."""
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        """Detach the client and wait for its end."""
        if self.closed:
            return
        self.closed = True
        if self._process.stdin is not None:
            self._process.stdin.close()  # a control-mode client ends with its input
        elif self._process.poll() is None and self._server.running and (name := self.name):
            self._server.tmux("detach-client", "-t", name, check=False)
        try:
            self._process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait(DEADLINE)
        self._reader.join(DEADLINE)
        os.close(self._master)

    def _value(self, variable: str) -> str:
        lines = self._server.tmux("list-clients", "-F", "#{client_pid} #{" + variable + "}").splitlines()
        found = [line.split(" ", 1)[1] for line in lines if line.split(" ", 1)[0] == str(self.pid)]
        return found[0] if found else ""

    def _drain(self) -> None:
        while True:
            try:
                if not os.read(self._master, 65536):
                    return
            except OSError:  # the other end of a pty is closed
                return

    def __enter__(self) -> AttachedClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class TmuxServer:
    """One private server. name: as with `tmux -L`; socket: a path as with `tmux -S` instead, which may be
    relative to `cwd`. folder: the private TMUX_TMPDIR, a new one by default (two servers may share one).
    program: which tmux."""

    def __init__(
        self,
        name: str = "default",
        *,
        socket: str | None = None,
        cwd: Path | None = None,
        folder: Path | None = None,
        ignored: bool = True,
        program: str = "tmux",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._own = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="ta-")) if folder is None else folder
        self._cwd = cwd or self.folder
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        base = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(home), "SHELL": "/bin/sh"}
        self.env = base | {"TMUX_TMPDIR": str(self.folder), "TERM": "xterm-256color", **(environ or {})}
        self._program = program
        self._where = ["-L", name] if socket is None else ["-S", socket]
        if socket is None:
            self.socket = self.folder / f"tmux-{os.getuid()}" / name
            self.socket.parent.mkdir(mode=0o700, exist_ok=True)
        else:
            self.socket = (self._cwd / socket).absolute()
        if ignored:
            (self.socket.parent / ".trayagent-ignore").touch()
        self._clients: list[AttachedClient] = []
        self.pid = 0
        self.version = wire.NEWEST

    # -- commands -------------------------------------------------------------------------

    def tmux(self, *args: str, check: bool = True) -> str:
        """Run a tmux command on this server and return what it prints, without the last newline."""
        done = subprocess.run(
            [self._program, "-u", "-f", "/dev/null", *self._where, *args],
            env=self.env,
            cwd=self._cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        assert not check or done.returncode == 0, f"tmux {shlex.join(args)}: {done.stderr.strip()}"
        return done.stdout.removesuffix("\n")

    def new_session(self, name: str = "main", command: str = IDLE, columns: int = 80, rows: int = 24) -> str:
        """A new detached session (the first one starts the server); returns its first pane's id."""
        size = ["-x", str(columns), "-y", str(rows)]
        pane = self.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", *size, "-s", name, command)
        if not self.pid:
            self.pid = int(self.ask("#{pid}"))
            self.version = wire.version(self.ask("#{version}"))
        if self.ask("#{window_width}x#{window_height}", pane) != f"{columns}x{rows}":  # tmux 3.2 ignores it
            self.tmux("resize-window", *size, "-t", pane)
        return pane

    def new_window(self, target: str, command: str = IDLE, name: str = "") -> str:
        """A new window behind the others of a session (`$1`, or a pane in it); returns its pane's id."""
        session = self.ask("#{session_id}", target)
        named = ["-n", name] if name else []
        return self.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", *named, "-t", f"{session}:", command)

    def split(self, pane: str, command: str = IDLE) -> str:
        """Split a pane; returns the new pane's id. The old one stays active."""
        return self.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", pane, command)

    def ask(self, format: str, target: str | None = None) -> str:
        """What a format expands to, for a pane, window or session."""
        return self.tmux("display-message", "-p", *(["-t", target] if target else []), format)

    def screen(self, pane: str) -> str:
        """What a pane shows."""
        return self.tmux("capture-pane", "-p", "-t", pane)

    def wait(self, true: Callable[[], object], what: str) -> None:
        """Return once `true()` holds; fail after a generous time."""
        wait_until(true, what)

    # -- clients --------------------------------------------------------------------------

    def attach(
        self,
        target: str | None = None,
        columns: int = 80,
        rows: int = 24,
        environ: Mapping[str, str] | None = None,
        *,
        control: bool = False,
        command: Sequence[str] = (),
    ) -> AttachedClient:
        """Attach a client in a pty of this size and wait until the server lists it.

        control: a control-mode client instead (`tmux -C`), which reads commands from a pipe.
        command: the tmux command that attaches, instead of a plain attach-session."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        attach = [self._program, "-u", *(["-C"] if control else []), *self._where]
        attach += command or ["attach-session", *(["-t", target] if target else [])]
        process = subprocess.Popen(
            attach if control else [sys.executable, "-S", "-c", _CONTROL, *attach],
            env=self.env | dict(environ or {}),
            cwd=self._cwd,
            stdin=subprocess.PIPE if control else slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        return self._attached(AttachedClient(self, process, master))

    def attach_xterm(
        self, env: Mapping[str, str], target: str | None = None, *options: str
    ) -> AttachedClient:
        """Attach a client in an xterm of the desktop that `env` (with DISPLAY) belongs to.

        options: of xterm. The object's pid is the client's; closing it detaches, which ends the xterm."""
        attach = [self._program, "-u", *self._where, "attach-session", *(["-t", target] if target else [])]
        known = self._client_pids()
        master, slave = pty.openpty()
        process = subprocess.Popen(
            ["xterm", *options, "-e", *attach],
            env=dict(env) | {"TMUX_TMPDIR": str(self.folder)},
            cwd=self._cwd,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        client = AttachedClient(self, process, master)
        self._clients.append(client)
        wait_until(lambda: self._client_pids() - known, "the xterm's client")
        client.pid = (self._client_pids() - known).pop()
        return client

    def _attached(self, client: AttachedClient) -> AttachedClient:
        self._clients.append(client)
        wait_until(lambda: client.name, "the client to attach")
        return client

    def _client_pids(self) -> set[int]:
        return {int(pid) for pid in self.tmux("list-clients", "-F", "#{client_pid}").split()}

    # -- life -----------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether the server process lives."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return False
        return self.pid != 0 and stat.rpartition(")")[2].split()[0] != "Z"

    def pause(self) -> None:
        """Stop the server's process, as a hung one would be; `resume` or the teardown lets it go on."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let a stopped server go on."""
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End the server with kill-server, and wait for its process to be gone. It may be started again."""
        if self.running:
            self.resume()
            self.tmux("kill-server", check=False)
            wait_until(lambda: not self.running, "the server to end")
        self.pid = 0

    def close(self) -> None:
        """Detach what was attached, end the server, remove the folder if it was made here."""
        if self.running:
            self.resume()
        for client in self._clients:
            client.close()
        self._clients.clear()
        self.kill()
        if self._own:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> TmuxServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
