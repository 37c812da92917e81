"""Readers of streams, which check every event, and what they and the callers find."""

import asyncio
import json
import random
import time

from callers import Caller
from cluster import AUTHORIZATION, STREAMS

# A longer time without updates is noted among the faults.
NOTED_SILENCE = 8.0


class Findings:
    def __init__(self):
        self.contents = {}
        self.updates = self.resumed = self.gaps = self.fresh = 0
        self.holes, self.doubles, self.stale, self.twins, self.crowds, self.ended = [], [], [], [], [], []
        self.lost, self.reused = [], []
        # The operations on shared objects, and the histories of which no linear order explains the results.
        self.history, self.nonlinear = [], []
        self.tickets = self.opened = 0
        self.calls = self.refused = 0
        self.longest = self.longest_surplus = 0.0
        self.most = self.interruptions = 0

    def failures(self):
        lists = (self.holes, self.doubles, self.stale, self.twins, self.crowds, self.ended, self.lost, self.reused, self.nonlinear)
        return sum(map(len, lists)) + (self.opened == 0)


class Reader:
    def __init__(self, name, cluster, findings):
        self.name, self.cluster, self.findings = name, cluster, findings
        self.query = STREAMS[name % len(STREAMS)]
        self.last_id = None
        self.numbers = {}
        self.highest = {}
        self.heard = time.monotonic()
        self.status = None
        # The body of the last response that was not 200.
        self.refusal = ""
        self.opened = 0

    async def run(self):
        while True:
            duration = max(0.1, random.expovariate(1 / 3))
            try:
                await asyncio.wait_for(self.read(random.choice(self.cluster.ports)), duration)
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError):
                pass
            await asyncio.sleep(random.uniform(0.05, 0.3))

    async def read(self, port, target=None):
        self.status = None
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        try:
            resume = f"Last-Event-ID: {self.last_id}\r\n" if self.last_id else ""
            writer.write(
                f"GET {target or '/v1/stream?' + self.query} HTTP/1.0\r\nHost: 127.0.0.1\r\n"
                f"Accept: text/event-stream\r\n{AUTHORIZATION}{resume}\r\n".encode()
            )
            status = await reader.readline()
            self.status = int(status.split()[1]) if status else None
            if self.status != 200:
                self.refusal = (await reader.read(4096)).decode(errors="replace").rpartition("\r\n\r\n")[2]
                return
            self.opened += 1
            while (await reader.readline()).strip():
                pass
            event = {}
            while line := await reader.readline():
                text = line.decode().rstrip("\r\n")
                if text:
                    key, _, value = text.partition(":")
                    event[key] = value.removeprefix(" ")
                    continue
                if "event" in event:
                    self.take(event["event"], event.get("id"), event.get("data", "{}"))
                event = {}
        finally:
            writer.close()

    def take(self, kind, identifier, data):
        found = self.findings
        if kind == "stream":
            outcome = json.loads(data)["resume"]
            if outcome == "resumed":
                found.resumed += 1
            elif outcome == "gap":
                found.gaps += 1
                self.numbers, self.last_id = {}, None
            elif self.last_id is None:
                found.fresh += 1
            else:
                found.stale.append(f"reader {self.name}: fresh after {self.last_id}")
        if identifier:
            known = found.contents.setdefault(identifier, (kind, data))
            index = int(identifier.rpartition("-")[2]) & 0xFFFF
            if known != (kind, data) and index < 0xFF00:
                found.twins.append(f"{identifier}: {known} and {(kind, data)}")
            if self.last_id:
                (epoch, number), (last_epoch, last) = self.parts(identifier), self.parts(self.last_id)
                if epoch == last_epoch and (number < last or (number == last and index < 0xFF00)):
                    found.doubles.append(f"reader {self.name}: {identifier} after {self.last_id}")
            self.last_id = identifier
        found.interruptions += kind == "unsubscribed"
        if kind in ("subscribed", "unsubscribed", "lost-updates"):
            self.numbers = {}
        if kind == "update":
            self.update(json.loads(data))

    @staticmethod
    def parts(identifier):
        epoch, _, number = identifier.rpartition("-")
        return epoch, int(number)

    def update(self, data):
        found = self.findings
        found.updates += 1
        now = time.monotonic()
        silence = now - self.heard
        found.longest = max(found.longest, silence)
        if silence > NOTED_SILENCE:
            self.cluster.note(f"reader {self.name} had no update for {silence:.1f} s")
        self.heard = now
        item, number = data["item"], int(data["fields"]["number"])
        last, highest = self.numbers.get(item), self.highest.get(item, 0)
        if number == highest:
            found.doubles.append(f"reader {self.name}: {item} {number} twice")
        elif number < highest:
            found.stale.append(f"reader {self.name}: {item} {number} after {highest}")
        elif last is not None and number != last + 1:
            found.holes.append(f"reader {self.name}: {item} {number} after {last}")
        self.numbers[item] = number
        self.highest[item] = max(number, highest)


class PreparedReader(Reader):
    """Prepares a stream, and opens it through any member, again and again: no member may have forgotten it."""

    def __init__(self, name, cluster, findings):
        super().__init__(name, cluster, findings)
        self.caller = Caller(f"p{name}", cluster, findings)
        self.path = None

    async def run(self):
        while True:
            while self.path is None:
                await self.prepare()
            for _ in range(random.randrange(2, 8)):
                await self.open()
                await asyncio.sleep(random.uniform(0.05, 0.3))
                if self.path is None:
                    break
            if self.path is not None and random.random() < 0.3:
                await self.delete()

    async def prepare(self):
        source = {
            "upstream": "demo", "mode": "RAW", "dataAdapter": "RAW_FEED", "items": ["raw1", "raw2"],
            "fields": ["number", "time"],
        }
        status, answer = await self.caller.call("POST", "/v1/streams", {"sources": [source]})
        if status == 201:
            self.path = f"/v1/streams/{answer['id']}"

    async def open(self):
        port, path = random.choice(self.cluster.ports), self.path
        try:
            await asyncio.wait_for(self.read(port, path + "/events"), max(0.1, random.expovariate(1 / 3)))
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError):
            pass
        if self.status == 404:
            self.caller.lose(path, f"404 for a prepared stream on {port}: {self.refusal}")
            self.path = None

    async def delete(self):
        path, self.path = self.path, None
        status, answer = await self.caller.call("GET", path)
        if status == 404:
            return self.caller.lose(path, f"404 for a prepared stream: {answer}")
        status, _ = await self.caller.call("DELETE", path)
        if status == 204:
            status, _ = await self.caller.call("GET", path)
            if status == 200:
                self.caller.lose(path, "there after its deletion")
