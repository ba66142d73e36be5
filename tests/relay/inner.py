"""Programs that the tests run inside of a relay, where an agent would be."""

from __future__ import annotations

import hashlib
import os
import random
import select
import signal
import sys
import termios
import time
import tty


def say(text: str) -> None:
    """One line on the terminal."""
    os.write(1, text.encode() + b"\r\n")


def noise(seed: int, size: int) -> bytes:
    """Bytes of all values, the same for the same seed."""
    return random.Random(seed).randbytes(size)


def exchange(count: str) -> None:
    """Write `count` bytes of noise and read as many, both at once; then say what was read."""
    tty.setraw(0)
    os.write(1, b"begin\n")
    left, read, out, seen = int(count), int(count), 0, hashlib.sha256()
    os.set_blocking(0, False)
    os.set_blocking(1, False)
    piece = noise(1, 1 << 20)
    while left or read:
        readable, writable, _ = select.select([0] if read else [], [1] if left else [], [], 60)
        if readable:
            data = os.read(0, 65536)
            seen.update(data)
            read -= len(data)
        if writable:
            at = out % len(piece)
            try:
                done = os.write(1, piece[at : at + min(left, random.randint(1, 20000))])
            except BlockingIOError:
                continue
            out += done
            left -= done
    os.set_blocking(1, True)
    os.write(1, seen.hexdigest().encode())


def sizes() -> None:
    """Say the window's size now and whenever it changes, until a line comes."""

    def tell(*_: object) -> None:
        columns, rows = os.get_terminal_size(0)
        say(f"size {rows}x{columns}")

    signal.signal(signal.SIGWINCH, tell)
    tell()
    sys.stdin.readline()


def signals() -> None:
    """Say each signal that comes; end at SIGTERM with 7."""

    def tell(number: int, _: object) -> None:
        say(f"got {signal.Signals(number).name}")
        if number == signal.SIGTERM:
            sys.exit(7)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGQUIT):
        signal.signal(number, tell)
    say(f"waiting {os.getpid()}")
    while True:
        signal.pause()


def editor() -> None:
    """As full-screen programs do: raw modes, ^Z by hand, everything taken up again after it."""
    before = termios.tcgetattr(0)
    tty.setraw(0)
    say(f"editing {os.getpid()}")
    while (key := os.read(0, 1)) != b"q":
        if key == b"\x1a":
            termios.tcsetattr(0, termios.TCSADRAIN, before)
            os.kill(0, signal.SIGTSTP)
            tty.setraw(0)
            say("back again")
        else:
            say(f"key {key.hex()}")
    termios.tcsetattr(0, termios.TCSADRAIN, before)


def ask(end: str) -> None:
    """Ask for OSC 7501, and for the device's attributes (DA1) behind it; say what came, in order."""
    before = termios.tcgetattr(0)
    tty.setraw(0)
    os.write(1, b"\x1b]7501;?" + end.encode() + b"\x1b[c")
    came = b""
    while not came.endswith(b"c"):
        came += os.read(0, 100)
    termios.tcsetattr(0, termios.TCSADRAIN, before)
    say(came.hex())


def burst() -> None:
    """Write much at once and end."""
    os.write(1, b"x" * 200_000 + b"the very end")


def deaf() -> None:
    """Draw a spinner for ever, and never read a key."""
    tty.setraw(0)
    turn = 0
    while True:
        turn += 1
        os.write(1, f"\rturn {turn} ".encode())
        time.sleep(0.01)


def flood(path: str) -> None:
    """Write for ever, until a key comes; then note that in a file, and end."""
    tty.setraw(0)
    os.set_blocking(1, False)
    while not select.select([0], [], [], 0.001)[0]:
        try:
            os.write(1, b"x" * 4096)
        except BlockingIOError:
            continue
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(os.read(0, 100))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
