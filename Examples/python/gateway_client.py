"""Subscriptions of a Lightstreamer gateway over one stream: resume, exact tables, and delays that the gateway asks for.

    pip install httpx

    async for subscription, update in follow("http://127.0.0.1:8080", Subscription({
            "upstream": "demo", "mode": "MERGE", "items": ["item1"], "fields": ["last_price"]})):
        print(update["item"], update["fields"], subscription.rows)
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import httpx

Fields = dict[str, str | None]
Event = dict[str, Any]
Token = Callable[[bool], Awaitable[str | None]]

SILENCE = 60.0  # seconds without a byte after which a stream is lost, unless the heartbeats of the gateway are rarer
HEALTHY = 10.0  # seconds after which a stream without updates resets the back-off
LONGEST = 30.0  # seconds, the longest delay of the back-off
FULL = 20.0  # seconds at least, when the gateway can open no stream
FINAL_REASONS = {"revoked", "stream-limit"}


class Refused(Exception):
    """A final refusal: another attempt would have the same outcome. `problem` is an RFC 9457 problem."""

    def __init__(self, problem: Event) -> None:
        super().__init__(problem.get("detail") or problem.get("message") or problem.get("title") or str(problem))
        self.problem = problem


class Lost(Exception):
    """The stream or a request failed, and another attempt may succeed after `delay` seconds or more."""

    def __init__(self, reason: str, delay: float = 0.0) -> None:
        super().__init__(reason)
        self.delay = delay


class Subscription:
    """One subscription with its table.

    `rows` has the fields by item (MERGE) or by item and key (COMMAND); `events` has the newest events, each with all
    its fields (DISTINCT, RAW).
    """

    def __init__(self, spec: Event, bound: int = 200) -> None:
        self.spec = spec
        # Of a feed the gateway tells it, before the first event.
        self.mode: str | None = spec.get("mode")
        self.id: str | None = None
        self.error: Event | None = None
        self.rows: dict[Any, Fields] = {}
        self.events: deque[tuple[str, Fields]] = deque(maxlen=bound)
        self._previous: dict[str, Fields] = {}

    def clear(self, item: str | None = None) -> None:
        """Empties the table, or what it has of an item."""
        if item is None:
            self.rows.clear()
            self.events.clear()
            self._previous.clear()
            return
        for row in [row for row in self.rows if row == item or (isinstance(row, tuple) and row[0] == item)]:
            del self.rows[row]
        # The next event may still omit what it has in common with the last one: `_previous` stays.
        self.events = deque((event for event in self.events if event[0] != item), self.events.maxlen)

    def apply(self, name: str, data: Event) -> None:
        """Applies an event of the stream."""
        item = data.get("item") or str(data.get("itemPos"))
        if name == "subscribed" or (name == "unsubscribed" and not data["active"]):
            self.clear()
        elif name == "clear-snapshot":
            self.clear(item)
        elif name == "lost-updates" and data.get("by") == "gateway":
            self._previous.pop(item, None)
        elif name == "subscription-error":
            self.error = data
        elif name == "update":
            self._update(item, data)

    def _update(self, item: str, data: Event) -> None:
        if self.mode in ("DISTINCT", "RAW"):
            fields = {**self._previous.get(item, {}), **data["fields"]}
            self._previous[item] = fields
            self.events.append((item, fields))
            return
        row = (item, data["key"]) if self.mode == "COMMAND" else item
        if data.get("command") == "DELETE":
            self.rows.pop(row, None)
        else:
            self.rows[row] = {**self.rows.get(row, {}), **data["fields"]}


class Stream:
    """A prepared stream that is opened again and again, and continues after the last event."""

    def __init__(self, url: str, subscriptions: tuple[Subscription, ...], token: Token | None) -> None:
        self.subscriptions = subscriptions
        self.token = token
        self.id: str | None = None
        self.last: str | None = None
        self.retry = 0.0
        self.attempts = 0
        self.silence = SILENCE
        self.client = httpx.AsyncClient(base_url=url, timeout=httpx.Timeout(10, read=SILENCE))
        self._key: str | None = None
        self._is_asked = False

    async def headers(self, is_renewed: bool = False) -> dict[str, str]:
        if self.token and (is_renewed or not self._is_asked):
            self._key = await self.token(is_renewed)
            self._is_asked = True
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    async def check(self, response: httpx.Response) -> None:
        """Raises `Refused` or `Lost` unless the response is a success."""
        if response.is_success:
            return
        await response.aread()
        try:
            problem: Event = response.json()
        except ValueError:
            problem = {"status": response.status_code}
        delay = float(response.headers.get("Retry-After") or 0)
        if response.status_code == 404 and problem.get("code") == "unknown-stream":
            self.id = None
            raise Lost("the stream is gone")
        if response.status_code == 409:
            raise Lost("the former connection is not closed yet", 0.1)
        if response.status_code == 503:
            raise Lost(str(problem.get("detail")), max(delay, FULL))
        if response.status_code in (408, 425, 429) or response.status_code >= 500:
            raise Lost(str(problem.get("detail")), delay)
        raise Refused(problem)

    async def prepare(self, is_renewed: bool = False) -> None:
        """Creates the stream; a token that is refused is asked for once more."""
        body = {"sources": [subscription.spec for subscription in self.subscriptions]}
        response = await self.client.post("/v1/streams", json=body, headers=await self.headers(is_renewed))
        if response.status_code == 401 and self.token and not is_renewed:
            return await self.prepare(is_renewed=True)
        await self.check(response)
        stream = response.json()
        self.id = stream["id"]
        if len(stream["sources"]) != len(self.subscriptions):
            raise Refused({"title": "Two of the subscriptions are equal."})
        for subscription, source in zip(self.subscriptions, stream["sources"]):
            subscription.id = source["subscription"]

    async def events(self) -> AsyncGenerator[tuple[str, Event], None]:
        """The events of one connection."""
        if self.id is None:
            await self.prepare()
        headers = {"Accept": "text/event-stream", **await self.headers()}
        if self.last:
            headers["Last-Event-ID"] = self.last
        timeout = httpx.Timeout(10, read=self.silence)
        async with self.client.stream("GET", f"/v1/streams/{self.id}/events", headers=headers, timeout=timeout) as response:
            if response.status_code == 401 and self.token:
                await self.headers(is_renewed=True)
            await self.check(response)
            event, id, data = "", "", ""
            async for line in self.lines(response):
                name, _, value = line.partition(": ")
                if name == "event":
                    event = value
                elif name == "id":
                    id = value
                elif name == "data":
                    data = value
                elif name == "retry":
                    self.retry = float(value) / 1000
                elif not line and data:
                    self.last = id or self.last
                    yield event, json.loads(data)
                    event, id, data = "", "", ""

    async def lines(self, response: httpx.Response) -> AsyncGenerator[str, None]:
        """The lines of a stream; measures the pauses before heartbeats, whose interval the gateway does not tell."""
        received = time.monotonic()
        try:
            async for line in lines(response):
                if line == ":":
                    self.silence = max(SILENCE, 4 * (time.monotonic() - received))
                received = time.monotonic()
                yield line
        except httpx.ReadTimeout:
            self.silence = min(10 * SILENCE, 2 * self.silence)
            raise

    def delay(self, lost: Lost) -> float:
        """Seconds until the next attempt: the back-off with jitter, or more if the gateway asks for it."""
        self.attempts += 1
        backoff = min(LONGEST, 0.5 * 2 ** (self.attempts - 1)) * random.uniform(0.5, 1)
        asked, self.retry = max(lost.delay, self.retry), 0.0
        return asked if lost.delay == 0.1 else max(backoff, asked * random.uniform(1, 1.25))

    async def close(self) -> None:
        if self.id:
            try:
                await self.client.delete(f"/v1/streams/{self.id}", headers=await self.headers())
            except httpx.HTTPError:
                pass
        await self.client.aclose()


async def lines(response: httpx.Response) -> AsyncGenerator[str, None]:
    """The lines of a stream, which end with LF. `aiter_lines` also ends lines at characters that values may have, as U+2028."""
    rest = ""
    async for text in response.aiter_text():
        *whole, rest = (rest + text).split("\n")
        for line in whole:
            yield line


async def follow(
    url: str, *subscriptions: Subscription, token: Token | None = None,
    state: Callable[[str, str], None] = lambda word, reason: None,
) -> AsyncGenerator[tuple[Subscription, Event], None]:
    """Yields updates without end, each after its table has it.

    `token` gives the key or token, and is called with True after a refusal. `state` receives `open` or `reconnecting`
    with the reason. Raises `Refused`.
    """
    stream = Stream(url, subscriptions, token)
    try:
        while True:
            try:
                async for item in read(stream, state):
                    yield item
                raise Lost("the stream ended")
            except (Lost, httpx.TransportError) as error:
                lost = error if isinstance(error, Lost) else Lost(str(error) or type(error).__name__)
                state("reconnecting", str(lost))
                await asyncio.sleep(stream.delay(lost))
    finally:
        await stream.close()


async def read(stream: Stream, state: Callable[[str, str], None]) -> AsyncGenerator[tuple[Subscription, Event], None]:
    """Reads one connection to its end, and keeps the tables."""
    opened = time.monotonic()
    async for name, data in stream.events():
        if name == "update" or time.monotonic() - opened > HEALTHY:
            stream.attempts = 0
        if name == "closing":
            if data["reason"] in FINAL_REASONS:
                raise Refused({"code": data["reason"], "title": f"The gateway closed the stream: {data['reason']}."})
            raise Lost(f"the gateway closed the stream: {data['reason']}")
        if name == "stream":
            state("open", data["resume"])
            modes = {source.get("subscription"): source.get("mode") for source in data["sources"]}
            for subscription in stream.subscriptions:
                subscription.mode = modes.get(subscription.id) or subscription.mode
            # Unless the stream was resumed, its first event ends the state of all sources.
            if data["resume"] != "resumed":
                stream.last = None
                for subscription in stream.subscriptions:
                    subscription.clear()
        for subscription in stream.subscriptions:
            if data.get("subscription") == subscription.id:
                subscription.apply(name, data)
                if name == "update":
                    yield subscription, data
        errors = [subscription.error for subscription in stream.subscriptions if subscription.error]
        if len(errors) == len(stream.subscriptions):
            raise Refused(errors[0])
