"""The demo where there is no tmux: the engine with the recordings, in their own time, on this terminal alone.

What the engine made of each recording is worked out first (`replay`, some seconds of processor time); then
it is told at the pace of the story. Nothing of the desktop is used.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from trayagent.demo.run import BEAT
from trayagent.demo.story import STORY, Act
from trayagent.demo.telling import Row, Teller, wording
from trayagent.model.states import State
from trayagent.replay.cast import read_cast
from trayagent.replay.run import Manifests, replay

SETTLE = {State.BLOCKED: 1.0}  # seconds from a state to its banner, as the settings have them
OTHERWISE = 2.0


@dataclass(frozen=True, slots=True)
class Moment:
    """What happens to an act. at: seconds of the story. told: its banner, else its new state."""

    at: float
    act: Act
    state: State
    message: str = ""
    told: bool = False


def moments(act: Act, manifests: Manifests) -> list[Moment]:
    """What the engine makes of an act, up to the end that it is told of."""
    cast = read_cast(act.cast)
    key = next(event.at for event in cast.events if event.code == "m")
    found = [Moment(0.0, act, State.IDLE)]
    for change in replay(cast, manifests, agent=act.agent):
        state = State(change.to)
        if change.t <= key:
            continue
        at = change.t - key + act.sent
        found.append(Moment(at, act, state, change.message))
        if state is act.ends:
            found.append(Moment(at + SETTLE.get(state, OTHERWISE), act, state, change.message, told=True))
            break
    return found


async def simulate(manifests: Manifests, teller: Teller) -> None:
    """Tell the story."""
    plays = await asyncio.gather(*(asyncio.to_thread(moments, act, manifests) for act in STORY))
    due = sorted((moment for play in plays for moment in play), key=lambda moment: moment.at)
    loop = asyncio.get_running_loop()
    began, now = loop.time(), {}
    while due:
        at = loop.time() - began
        while due and due[0].at <= at:
            moment = due.pop(0)
            _tell(moment, teller)
            if not moment.told:
                now[moment.act.agent] = moment
        teller.rows([_row(moment, at) for moment in now.values()])
        await asyncio.sleep(BEAT)


def _tell(moment: Moment, teller: Teller) -> None:
    act = moment.act
    if moment.told:
        teller.say(moment.at, None, "with tmux, a banner would come up now, with a sound")
    elif text := wording(moment.state, act.name, act.project, moment.message):
        teller.say(moment.at, moment.state, text)


def _row(moment: Moment, at: float) -> Row:
    return Row(moment.state, at - moment.at, moment.act.name, moment.act.project, moment.message)
