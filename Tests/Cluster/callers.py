"""Callers of the REST interface, which check that no confirmed change is lost and that a ticket opens one stream."""

import asyncio
import json
import random
import time

from cluster import KEY, STREAMS


class Caller:
    """Makes, changes, reads, lists and deletes one subscription after the other, each time through another member."""

    def __init__(self, name, cluster, findings):
        self.name, self.cluster, self.findings = name, cluster, findings
        self.made = 0
        self.key = KEY
        # The last call with its response, for the notes.
        self.last = None

    async def run(self):
        while True:
            await self.life()

    async def call(self, method, path, body=None, key=None):
        """The status and the JSON of a response; (503, None) if the member refuses, or the connection breaks."""
        self.findings.calls += 1
        port, began = random.choice(self.cluster.ports), time.monotonic()
        try:
            status, answer = await asyncio.wait_for(self.exchange(port, method, path, body, key), 20)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError, IndexError):
            status, answer = 503, None
        self.last = f"{method} {status} through member{self.cluster.member_ports.index(port)} after {time.monotonic() - began:.3f} s"
        if status == 503:
            self.findings.refused += 1
            await asyncio.sleep(0.2)
        elif status >= 500:
            self.findings.lost.append(f"caller {self.name}: {method} {path}: {status} {answer}")
        return status, answer

    async def exchange(self, port, method, path, body, key):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        try:
            text = json.dumps(body) if body is not None else ""
            kind = "Content-Type: application/json\r\n" if text else ""
            kind += f"Idempotency-Key: {key}\r\n" if key else ""
            writer.write(
                f"{method} {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.key}\r\n{kind}Content-Length: {len(text)}\r\n\r\n{text}".encode()
            )
            head, _, answer = (await reader.read()).partition(b"\r\n\r\n")
            return int(head.split()[1]), json.loads(answer) if answer else None
        finally:
            writer.close()

    async def life(self):
        self.made += 1
        properties = {
            "upstream": "demo", "mode": "MERGE", "items": [f"c{self.name}x{self.made}"], "fields": ["last_price"],
            "active": False,
        }
        answer = await self.make(properties)
        if answer is None:
            return
        # What a reader may see: the last confirmed value, and those that may have been written since.
        path, allowed = f"/v1/subscriptions/{answer['id']}", {None}
        for _ in range(random.randrange(3, 12)):
            kind = random.choice(["change", "read", "read", "list"])
            if kind == "change":
                value = random.randrange(1, 1000)
                status, answer = await self.call("PATCH", path, {"requestedMaxFrequency": value})
                allowed = {value} if status == 200 else allowed | {value}
            elif kind == "read":
                status, answer = await self.call("GET", path)
                if status == 200 and answer["requestedMaxFrequency"] not in allowed:
                    self.lose(path, f"{answer['requestedMaxFrequency']} instead of {allowed}")
            else:
                status, answer = await self.call("GET", "/v1/subscriptions?limit=1000")
                same = [entry["id"] for entry in (answer or {}).get("subscriptions", [])
                        if entry["items"] == properties["items"]]
                if status == 200 and len(same) != 1:
                    self.lose(path, f"{same} in a list")
            if status == 404:
                return self.lose(path, f"{kind}: 404")
            await asyncio.sleep(random.uniform(0, 0.2))
        status, _ = await self.call("DELETE", path)
        if status == 204:
            status, _ = await self.call("GET", path)
            if status == 200:
                self.lose(path, "there after its deletion")

    async def make(self, properties):
        """Makes a subscription through several members at once, and again until one confirms it: it is made once."""
        key, ids, losses = f"{self.name}-{self.made}-{random.random()}", {}, self.cluster.losses
        for _ in range(5):
            several = (self.call("POST", "/v1/subscriptions", properties, key) for _ in range(random.randrange(1, 4)))
            for status, answer in await asyncio.gather(*several):
                if status == 201:
                    ids[answer["id"]] = answer
            if len(ids) > 1 and losses != self.cluster.losses:
                # The engine lost its data meanwhile, and with it the key.
                return None
            if len(ids) > 1:
                self.lose(key, f"one Idempotency-Key made {list(ids)}")
            if ids:
                return random.choice(list(ids.values()))
        return None

    def lose(self, path, text):
        self.cluster.note(f"lost: {path}: {text}; last call of the caller: {self.last}")
        self.findings.lost.append(f"caller {self.name}: {path}: {text}")


class TicketHolder(Caller):
    """Presents each ticket to several members at once, and again: it opens one stream at most."""

    async def life(self):
        status, answer = await self.call("POST", "/v1/tickets")
        if status != 201:
            return
        self.findings.tickets += 1
        await asyncio.sleep(random.choice([0, 0, 0.1, 2]))
        target = f"/v1/stream?{random.choice(STREAMS)}&ticket={answer['ticket']}"
        opened = sum(await asyncio.gather(*(self.opens(target) for _ in range(random.randrange(1, 4)))))
        await asyncio.sleep(random.choice([0, 0.1, 3]))
        opened += await self.opens(target)
        self.findings.opened += opened > 0
        if opened > 1:
            self.findings.reused.append(f"holder {self.name}: one ticket opened {opened} streams")

    async def opens(self, target):
        """Whether a stream is opened; the connection is closed then."""
        try:
            return await asyncio.wait_for(self.head(target), 10)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError, IndexError):
            return False

    async def head(self, target):
        reader, writer = await asyncio.open_connection("127.0.0.1", random.choice(self.cluster.ports))
        try:
            writer.write(f"GET {target} HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode())
            if int((await reader.readline()).split()[1]) != 200:
                return False
            # A member that cannot open it answers with one `closing` event.
            while not (line := await reader.readline()).startswith(b"event:"):
                if not line:
                    return False
            return line.split()[1] == b"stream"
        finally:
            writer.close()
