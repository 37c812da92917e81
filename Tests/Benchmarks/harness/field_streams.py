"""Streams of many items, and streams that are cut and resume: what `lightstreamer-gateway bench` does not read."""

import asyncio
import contextlib
import random
import re
import time

NUMBERS = re.compile(rb'"seq":"(\d+)","at":"(\d+)"')
IDENTITY = re.compile(rb"^id: ?(.*)$", re.MULTILINE)


class Stream:
    """One stream of an item, and the comparison of its events with their sequence."""

    def __init__(self, contender, item):
        self.contender = contender
        self.item = item
        self.opened = asyncio.Event()
        self.position = None
        self.first = self.last = None
        self.received = set()
        self.refused = self.cuts = self.bytes = self.events = self.doubled = self.unordered = 0
        self.delays = []

    async def read(self):
        """Reads the stream until its end; a stream that was read before resumes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.contender.port, limit=1 << 20)
        try:
            request = f"GET {self.contender.path}{self.item} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
            if self.position:
                request += f"Last-Event-ID: {self.position}\r\n"
            writer.write(f"{request}\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200 "):
                self.refused += 1
                return
            self.opened.set()
            unread = b""
            while part := await (self.chunk(reader) if b"chunked" in head else self.part(reader)):
                *events, unread = (unread + part).split(b"\n\n")
                for event in events:
                    self.dispatch(event)
        finally:
            writer.transport.abort()

    async def chunk(self, reader):
        """The next chunk of a body; empty at its end."""
        line = await reader.readline()
        chunk = await reader.readexactly(int(line, 16) + 2)
        self.bytes += len(line) + len(chunk)
        return chunk[:-2]

    async def part(self, reader):
        """What has arrived of a body without framing; empty at its end."""
        part = await reader.read(1 << 16)
        self.bytes += len(part)
        return part

    def dispatch(self, event):
        """Compares an event with those before it."""
        if identity := IDENTITY.search(event):
            self.position = identity[1].decode()
        if not (numbers := NUMBERS.search(event)):
            return
        seq, at = map(int, numbers.groups())
        self.events += 1
        self.delays.append(max(0, int(time.time() * 1000) - at))
        if seq in self.received:
            self.doubled += 1
        elif self.last is not None and seq < self.last:
            self.unordered += 1
        self.first = seq if self.first is None else self.first
        self.last = seq if self.last is None else max(seq, self.last)
        self.received.add(seq)

    async def read_with_cuts(self):
        """Reads the stream, cuts it about once a second and resumes it a moment later. The first cut comes after an event, since
        a stream without one has nothing to resume from."""
        while True:
            with contextlib.suppress(asyncio.TimeoutError, OSError):
                await asyncio.wait_for(self.read(), random.uniform(0.5, 1.5) + (0 if self.cuts else 1))
            self.cuts += 1
            await asyncio.sleep(random.uniform(0.02, 0.2))

    def missing(self, published):
        """The number of events since the first one that the stream does not have, and whether its newest one is old."""
        if self.first is None:
            return 0, published > 0
        return published - self.first - len(self.received), self.last + 1 < published


async def opened(streams):
    """Returns once all streams are open or refused."""
    while not all(stream.opened.is_set() or stream.refused for stream in streams):
        await asyncio.sleep(0.05)


def figures(streams, published):
    """What the streams received, with the names that `bench` uses; `published` is the number of events of each item."""
    missing = [stream.missing(published.get(stream.item, 0)) for stream in streams]
    delays = sorted(delay for stream in streams for delay in stream.delays) or [0]
    total = {name: sum(getattr(stream, name) for stream in streams)
             for name in ("refused", "cuts", "bytes", "events", "doubled")}
    return {
        **total,
        "outOfOrder": sum(stream.unordered for stream in streams),
        "holes": sum(holes for holes, _ in missing),
        "stale": sum(stale for _, stale in missing),
        "bytesPerEvent": total["bytes"] / max(1, total["events"]),
        "delayMedian": delays[len(delays) // 2],
        "delay99": delays[len(delays) * 99 // 100],
        "delayLongest": delays[-1],
    }
