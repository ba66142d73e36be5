"""An index of manifests and the files beside it, from a folder or over https.

Over the network only https is spoken, to the address that the user gave and where it
redirects to by https; each answer is bounded in size, and all of it in time.
"""

from __future__ import annotations

import time
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPMessage
from pathlib import Path
from typing import IO

from trayagent import __version__
from trayagent.manifest.format import LIMITS

INDEX = "index.toml"
STEP_SECONDS = 10.0  # for each step of a transfer
WHOLE_SECONDS = 60.0  # for one file
_CHUNK = 64 * 1024


class FetchError(Exception):
    """It could not be had; the text says why, with the place."""


class Place:
    """Where an index lies. where: a file, a folder that holds index.toml, or an https address."""

    def __init__(self, where: str) -> None:
        scheme = urllib.parse.urlsplit(where).scheme
        self._url = where if scheme and len(scheme) > 1 else ""
        if self._url and scheme != "https":
            raise FetchError(f"{where}: only https addresses and files are read")
        self._path = Path(where).expanduser()
        if not self._url and self._path.is_dir():
            self._path /= INDEX
        if self._url.endswith("/"):
            self._url += INDEX
        self.name = self._url or str(self._path)
        path = urllib.parse.urlsplit(self._url).path if self._url else str(self._path)
        self.suffix = Path(path).suffix or ".toml"

    def index(self) -> bytes:
        """The index itself. Raises FetchError."""
        limit = LIMITS.file_bytes + 1
        return _fetch(self._url, limit) if self._url else _read(self._path, limit)

    def file(self, path: str, limit: int) -> bytes:
        """A file beside the index, at most so many bytes of it. Raises FetchError."""
        if self._url:
            return _fetch(urllib.parse.urljoin(self._url, urllib.parse.quote(path)), limit)
        return _read(self._path.parent / path, limit)


def _read(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(limit)
    except OSError as error:
        raise FetchError(f"{path}: {error.strerror}") from None


class _OnlyHttps(urllib.request.HTTPRedirectHandler):
    """Follows redirects as long as they stay on https."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """The next request, or an end to it."""
        if urllib.parse.urlsplit(newurl).scheme != "https":
            raise FetchError(f"{req.full_url}: redirects to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetch(url: str, limit: int) -> bytes:
    deadline = time.monotonic() + WHOLE_SECONDS
    request = urllib.request.Request(url, headers={"User-Agent": f"trayagent/{__version__}"})
    try:
        with urllib.request.build_opener(_OnlyHttps).open(request, timeout=STEP_SECONDS) as answer:
            out = b""
            while len(out) < limit and (chunk := answer.read1(min(_CHUNK, limit - len(out)))):
                out += chunk
                if time.monotonic() > deadline:
                    raise FetchError(f"{url}: not there after {WHOLE_SECONDS:g} s")
            return out
    except urllib.error.HTTPError as error:
        with error:
            raise FetchError(f"{url}: {error.code} {error.reason}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise FetchError(f"{url}: {reason}") from None
