"""What leaves through sinks: each banner, for the sinks that want it; single alerts, when nobody is there."""

from __future__ import annotations

from collections.abc import Sequence

from trayagent.alerts.cases import Case
from trayagent.alerts.world import Words
from trayagent.model.effects import Effect, RecordFollowUp, Send
from trayagent.model.settings import Settings, SinkSettings
from trayagent.model.states import RANK
from trayagent.model.view import PaneView


class Outbox:
    """Words and addresses what is sent."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def with_banner(
        self,
        cases: Sequence[Case],
        views: Sequence[PaneView],
        alert: int,
        settings: Settings,
        now: float,
        wall_offset: float,
    ) -> list[Effect]:
        """To each sink that is always told: what of a banner is about its states."""
        effects: list[Effect] = []
        pairs = sorted(zip(cases, views, strict=True), key=lambda pair: (RANK[pair[1].state], pair[1].since))
        for sink in settings.alerts.sinks:
            wanted = [pair for pair in pairs if pair[1].state in sink.states]
            if sink.when == "always" and wanted:
                effects += self.send(sink, wanted, alert, now, wall_offset)
        return effects

    def send(
        self,
        sink: SinkSettings,
        about: Sequence[tuple[Case, PaneView]],
        alert: int,
        now: float,
        wall_offset: float,
    ) -> list[Effect]:
        """What a sink is sent about cases, the loudest first. alert: of their banner, 0 for none."""
        views = [view for _, view in about]
        if len(views) > 1:
            title, body = self._words.merged(views, now, sink.text)
        else:
            title, body = self._words.single(views[0], now, sink.text)
        case, loudest = about[0]
        since = case.transition.at
        sent = Send(
            sink, case.id, tuple(view.key for view in views), loudest.state, title, body,
            since + wall_offset, now - since, alert, loudest.kind, loudest.reason, loudest.labels,
        )  # fmt: skip
        return [sent, *(RecordFollowUp(case.id, now, "sent", sink.name) for case, _ in about)]
