"""The manifests as the daemon lives with them: read at start, read again when a folder of them changes.

They are first read by `start`, in a thread: it takes some 100 ms, for which the icon must not wait.

Folders are those of `Library.standard`: the user's own beside his config file, those of
other tools that `manifests.import` names, and the updates in force. What is bundled does
not change while we run. A file that is broken leaves the next source in force, and is
told once.
"""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from trayagent.config.watch import FolderWatch
from trayagent.identity import Index
from trayagent.identity.insight import Insight
from trayagent.manifest.choice import BUNDLED
from trayagent.manifest.load import Folder, Library, standard_folders, updated_folder
from trayagent.model.events import ManifestsChanged

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

log = logging.getLogger("trayagent")


class Manifests:
    """The library, its folders, and the watch over them. state: the program's state folder."""

    def __init__(self, parts: Parts, state: Path) -> None:
        self._parts, self._updated = parts, updated_folder(state)
        self._asked = self._asked_for()
        self.library = Library(())
        self._watch: FolderWatch | None = None
        self._told: set[str] = set()

    def _asked_for(self) -> tuple[object, object]:
        """The settings that concern us."""
        settings = self._parts.settings
        return settings.manifests.imports, settings.detect.agents

    def _folders(self) -> list[Folder]:
        user = self._parts.config.path.parent / "manifests"
        imports = self._parts.settings.manifests.imports
        return standard_folders(user, imports, self._updated, Path.home(), os.environ)

    def index(self) -> Index:
        """Who is recognised by what, as of the last reading."""
        return Index.build(self.library.manifests, self._parts.settings.detect.agents)

    async def start(self) -> None:
        """Read the manifests, and watch their folders from now on."""
        try:
            # Else the state folder itself would be watched, into which the ledger writes all day.
            self._updated.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            log.warning("%s cannot be made: %s", self._updated.parent, error.strerror)
        self.library.use(self._folders())
        self._watch_folders()
        await self.reload()

    def _watch_folders(self) -> None:
        self.stop()
        folders = [folder for folder in self.library.folders if folder.tier != BUNDLED]
        suffixes = {suffix for folder in folders for suffix in folder.suffixes}
        self._watch = FolderWatch([folder.path for folder in folders], self._changed, suffixes)
        self._watch.start()

    def stop(self) -> None:
        """Watch no more."""
        if self._watch is not None:
            self._watch.stop()

    def configure(self) -> None:
        """Take new settings: other tools to import from, other names of agents."""
        if self._asked_for() != self._asked:
            self._asked = self._asked_for()
            self.library.use(self._folders())
            self._watch_folders()
            self._changed()

    def _changed(self) -> None:
        self._parts.ends.spawn(self.reload())

    async def reload(self) -> None:
        """Read the manifests anew and judge every screen again."""
        await asyncio.to_thread(self.library.reload)
        self._say()
        index = self.index()
        self._parts.engine.use(self.library, index)
        self._parts.processes.learn(Insight(index))
        self._parts.feed(ManifestsChanged())

    def _say(self) -> None:
        """Tell each problem once, and again after it was gone."""
        lines = {str(problem) for problem in self.library.problems}
        for line in sorted(lines - self._told):
            log.warning("%s", line)
        self._told = lines
