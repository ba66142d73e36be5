"""One publisher, many streams: a slow one is told what it missed and holds nobody up."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from trayagent.ipc import schema
from trayagent.ipc.broadcast import Broadcast


async def test_a_slow_subscriber_is_told_how_much_it_missed():
    feed = Broadcast(limit=3)
    slow = feed.subscribe()
    for n in range(10):
        feed.publish({"n": n})
    assert [await anext(slow) for _ in range(4)] == [{"dropped": 7}, {"n": 7}, {"n": 8}, {"n": 9}]
    await slow.aclose()
    assert len(feed) == 0


async def test_a_latest_feed_keeps_the_newest_only_and_says_nothing_of_the_rest():
    feed = Broadcast(latest=True)
    slow = feed.subscribe({"n": -1})
    for n in range(5):
        feed.publish({"n": n})
    assert await anext(slow) == {"n": 4}
    waiting = asyncio.ensure_future(anext(slow))
    await asyncio.sleep(0)
    assert not waiting.done()
    feed.publish({"n": 5})
    assert await waiting == {"n": 5}


async def test_closing_ends_whoever_waits():
    feed = Broadcast()
    subscription = feed.subscribe()

    async def all_items() -> list[dict[str, object]]:
        return [item async for item in subscription]

    waiting = asyncio.create_task(all_items())
    await asyncio.sleep(0)
    await subscription.aclose()
    assert await asyncio.wait_for(waiting, 5) == []


@given(st.lists(st.text(max_size=3000), max_size=60))
def test_every_reply_survives_being_cut_into_parts(texts: list[str]):
    reply = schema.success(7, {"texts": texts})
    lines = list(schema.lines(reply))
    assert all(
        len(line) <= schema.LIMIT and line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines
    )
    if len(lines) > 1:
        import json

        parts = [json.loads(line)["part"] for line in lines]
        assert schema.join_parts(parts) == json.loads(schema.encode(reply))
