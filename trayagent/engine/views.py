"""A pane as it is shown: labels in the user's words, and the row of lists and menus."""

from __future__ import annotations

from trayagent.engine.panes import Pane
from trayagent.manifest.mask import mask
from trayagent.model.events import Repo
from trayagent.model.evidence import Labels
from trayagent.model.panes import PaneInfo
from trayagent.model.states import State
from trayagent.model.view import PaneView

UNREAD = frozenset({State.DONE, State.ERROR, State.BLOCKED})


def labels_of(info: PaneInfo, repo: Repo | None, agent: str, agent_name: str) -> Labels:
    """Where a pane is: project and branch from its folder, server and target from its source."""
    root = repo.root if repo is not None else info.dir
    return Labels(
        project=root.rstrip("/").rpartition("/")[2] or root,
        path=root,
        branch=repo.branch if repo is not None else "",
        agent=agent,
        agent_name=agent_name,
        server=info.server_name,
        session=info.session,
        window=info.window,
        target=f"{info.server_name}:{info.key.id}" if info.server_name else info.key.id,
    )


def view_of(pane: Pane, server_name: str) -> PaneView:
    """The pane's row. Its message is masked here, so that no secret leaves the engine."""
    info, memory, identity = pane.info, pane.memory, pane.identity
    decision = memory.decision
    named = next((claim.name for claim in pane.claims.values() if claim.name), "")
    session_id = next((claim.session_id for claim in pane.claims.values() if claim.session_id), "")
    return PaneView(
        key=pane.key,
        labels=pane.labels,
        agent=pane.labels.agent,
        name=named or pane.labels.agent_name,
        state=decision.state,
        since=memory.since,
        source=decision.source,
        why=decision.why,
        server=info.server_name or server_name,
        session=info.session,
        window=info.window,
        window_index=info.window_index,
        pane_id=pane.key.id,
        kind=decision.kind,
        reason=decision.reason,
        message=_masked(pane),
        options=decision.options,
        rule=decision.rule,
        identity=identity.certainty if identity else "",
        confidence=_confidence(pane),
        title=info.title,
        command=pane.job.processes[0].comm if pane.job and pane.job.processes else info.command,
        dir=info.dir,
        pid=identity.process.pid if identity else info.pid,
        process=pane.process,
        session_id=session_id,
        fingerprint=decision.fingerprint,
        unread=decision.state in UNREAD,
        own_interrupt=decision.own_interrupt,
    )


def _masked(pane: Pane) -> str:
    """The message without secrets; masking takes a dozen patterns, and views are made all the time."""
    message = pane.memory.decision.message
    if pane.masked[0] != message:
        pane.masked = (message, mask(message))
    return pane.masked[1]


def _confidence(pane: Pane) -> str:
    """How sure the state is: said by the program, read off its screen, or kept for want of news."""
    source = pane.memory.decision.source
    if source == "screen":
        return "screen"
    return {"silence": "kept", "loose": "hint", "presence": "process"}.get(source, "reported")
