"""The X connection and the one thread that owns it.

Theory of operation. python-xlib waits for answers without a timeout, so a stopped or distant X
server would stop the daemon's loop. Hence everything of Xlib happens in this
thread: it sleeps in select() on the connection and on a pipe; the loop hands it jobs
(`ask`, with a timeout) and hears of events through call_soon_threadsafe. If the server vanishes, the
thread looks for it again with growing delays. It is a daemon thread: a server that
hangs for ever does not keep the process from ending.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import select
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from trayagent.desktop.window.ewmh import Screen, open_screen, x_errors

log = logging.getLogger(__name__)

T = TypeVar("T")

ANSWER = 2.0  # seconds until a job counts as unanswered
FIRST_DELAY = 1.0  # before the second attempt to connect
LONGEST_DELAY = 30.0


class XGone(Exception):
    """There is no X server, it does not answer, or it refused the request; str() says which."""


class XThread:
    """on_up(), on_event(news) and on_down(why) are called on the loop."""

    def __init__(
        self,
        environ: Mapping[str, str],
        on_up: Callable[[], None],
        on_event: Callable[[Any], None],
        on_down: Callable[[str], None],
        look: Callable[[Screen], Any],
    ) -> None:
        """look: run in the thread at each connection and after root window events; its result, if it
        is new, goes to on_event."""
        self._environ = environ
        self._on_up, self._on_event, self._on_down, self._look = on_up, on_event, on_down, look
        self._loop: asyncio.AbstractEventLoop | None = None
        self._jobs: queue.SimpleQueue[tuple[Callable[[Screen], Any], asyncio.Future[Any]]] = (
            queue.SimpleQueue()
        )
        self._wake_r, self._wake_w = -1, -1
        self._ended = threading.Event()
        self._up = False
        self._thread: threading.Thread | None = None

    # -- on the loop -------------------------------------------------------------------------

    def start(self) -> None:
        """Start the thread; needs a running loop."""
        self._loop = asyncio.get_running_loop()
        self._wake_r, self._wake_w = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._run, name="x11", daemon=True)
        self._thread.start()

    async def ask(self, job: Callable[[Screen], T], timeout: float = ANSWER) -> T:
        """Run a job in the thread and return its result; raises XGone."""
        if self._thread is None or not self._up:
            raise XGone("there is no X server")
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put((job, answer))
        self._wake()
        try:
            async with asyncio.timeout(timeout):
                return await answer
        except TimeoutError:
            raise XGone("the X server does not answer") from None

    def retry(self) -> None:
        """Try to connect now, if there is no connection."""
        if not self._up and self._thread is not None:
            self._wake()

    async def stop(self, timeout: float = 1.0) -> None:
        """End the thread; one that hangs in the server is left behind."""
        if self._thread is None:
            return
        self._ended.set()
        self._wake()
        thread, self._thread = self._thread, None
        await asyncio.to_thread(thread.join, timeout)
        if not thread.is_alive():
            os.close(self._wake_r)
            os.close(self._wake_w)

    def _wake(self) -> None:
        try:
            os.write(self._wake_w, b"x")
        except BlockingIOError:  # the pipe is full, so the thread will wake up anyway
            return

    # -- in the thread -----------------------------------------------------------------------

    def _run(self) -> None:
        delay = FIRST_DELAY
        while not self._ended.is_set():
            try:
                screen = open_screen(self._environ)
            except Exception as error:  # Xlib lets all sorts of things through for an odd DISPLAY
                self._down(str(error) or type(error).__name__)
                self._sleep(delay)
                delay = min(delay * 2, LONGEST_DELAY)
                continue
            delay = FIRST_DELAY
            try:
                self._serve(screen)
            except x_errors() as error:
                self._down(f"the X server is gone: {error}")
            except Exception:
                log.exception("reading from the X server failed")
                self._down("the X server could not be understood")
            screen.close()
            self._sleep(FIRST_DELAY)

    def _serve(self, screen: Screen) -> None:
        self._up = True
        self._post(self._on_up)
        last = self._look(screen)
        self._post(self._on_event, last)
        while not self._ended.is_set():
            self._work(screen)
            while screen.root_changed():
                now = self._look(screen)
                if now != last:
                    last = now
                    self._post(self._on_event, now)
            if self._jobs.empty():
                select.select([screen.fileno(), self._wake_r], [], [])
                self._drain()

    def _work(self, screen: Screen) -> None:
        """Run the jobs that wait. What X refuses (a window that is gone) ends the job only."""
        while not self._jobs.empty():
            job, answer = self._jobs.get()
            result: Any = None
            problem: Exception | None = None
            try:
                result = job(screen)
            except Exception as error:  # also what Xlib stumbles over when an answer breaks off
                problem = error
            self._post(_answer, answer, result, problem)
            if problem is not None and not screen.alive():
                raise OSError(str(problem))

    def _down(self, why: str) -> None:
        self._up = False
        while not self._jobs.empty():
            _, answer = self._jobs.get()
            self._post(_answer, answer, None, OSError(why))
        self._post(self._on_down, why)

    def _sleep(self, seconds: float) -> None:
        if not self._ended.is_set():
            select.select([self._wake_r], [], [], seconds)
        self._drain()

    def _drain(self) -> None:
        try:
            os.read(self._wake_r, 4096)
        except BlockingIOError:  # it was the X server that woke us
            return

    def _post(self, callback: Callable[..., None], *arguments: Any) -> None:
        assert self._loop is not None
        if not self._loop.is_closed():
            try:
                self._loop.call_soon_threadsafe(callback, *arguments)
            except RuntimeError:  # it was closed just now: the program ends
                log.debug("nobody listens to the X thread any more")


def _answer(answer: asyncio.Future[Any], result: Any, problem: Exception | None) -> None:
    if answer.done():
        return
    if problem is None:
        answer.set_result(result)
    else:
        answer.set_exception(XGone(f"the X server refused: {problem}"))
