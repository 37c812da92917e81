"""Callers that share resources, tickets and a quota, and write down what they did and when, for `linear.py`."""

import asyncio
import json
import random
import time

from callers import Caller, TicketHolder
from cluster import LIMITED_KEY, LIMIT, STREAMS
from linear import Operation

# How long members may take to report what they have after the log has lost its content, in seconds.
REPORTING = 4.0


class Historian(TicketHolder):
    """Makes histories of one object after the other: several callers use the object at the same time."""

    async def run(self):
        while True:
            object, losses, steps = f"{self.name}-{self.made}", self.cluster.losses, self.cluster.clock_steps
            self.made += 1
            history = []
            share = random.choice([self.share_subscription, self.share_ticket])
            try:
                await share(object, history)
            finally:
                # Members whose wall clocks differ do not agree on when a ticket expires.
                clocks_agree = share == self.share_subscription or steps % 2 == 0 and steps == self.cluster.clock_steps
                # A log that has lost its content has lost changes, keys and tickets.
                if clocks_agree and losses == self.cluster.losses:
                    self.findings.history += history

    async def record(self, history, object, kind, action, value, call):
        """Notes an operation before it begins, so that one without an end is known, too."""
        index = len(history)
        history.append(Operation(object, kind, action, value, None, time.monotonic(), None))
        result = await call
        if result is not None:
            history[index] = history[index]._replace(result=result, ended=time.monotonic())
        return result

    async def share_subscription(self, object, history):
        """Several callers make a subscription under one key; others change, read and delete it."""
        properties = {
            "upstream": "demo", "mode": "MERGE", "items": [f"h{object}"], "fields": ["last_price"], "active": False,
        }
        key = f"{object}-{random.random()}"

        async def create():
            status, answer = await self.call("POST", "/v1/subscriptions", properties, key)
            return answer["id"] if status == 201 else None

        async def use(path):
            for _ in range(random.randrange(2, 6)):
                action = random.choices(["read", "change", "delete", "create"], [6, 5, 1, 1])[0]
                value = random.randrange(1, 1000) if action == "change" else None
                await self.record(history, object, "subscription", action, value, {
                    "read": lambda: self.read(path), "change": lambda: self.change(path, value),
                    "delete": lambda: self.delete(path), "create": create,
                }[action]())
                await asyncio.sleep(random.uniform(0, 0.2))

        made = await asyncio.gather(*(
            self.record(history, object, "subscription", "create", None, create()) for _ in range(random.randrange(1, 4))
        ))
        if known := [identity for identity in made if identity]:
            path = f"/v1/subscriptions/{known[0]}"
            await asyncio.gather(*(use(path) for _ in range(3)))
            await self.record(history, object, "subscription", "delete", None, self.delete(path))

    async def read(self, path):
        status, answer = await self.call("GET", path)
        return {200: lambda: [answer["requestedMaxFrequency"]], 404: list}.get(status, lambda: None)()

    async def change(self, path, value):
        status, _ = await self.call("PATCH", path, {"requestedMaxFrequency": value})
        return {200: "done", 404: "missing"}.get(status)

    async def delete(self, path):
        status, _ = await self.call("DELETE", path)
        return {204: "done", 404: "missing"}.get(status)

    async def share_ticket(self, object, history):
        """Several callers present a ticket."""
        status, answer = await self.call("POST", "/v1/tickets")
        if status != 201:
            return
        target = f"/v1/stream?{random.choice(STREAMS)}&ticket={answer['ticket']}"

        async def present():
            await asyncio.sleep(random.choice([0, 0, 0.05, 0.5]))
            await self.record(history, object, "ticket", "open", None, self.outcome(target))

        await asyncio.gather(*(present() for _ in range(random.randrange(2, 6))))

    async def outcome(self, target):
        """The result of a ticket; None if the member could not decide, or the connection broke."""
        try:
            return await asyncio.wait_for(self.presented(target), 10)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError, IndexError):
            return None

    async def presented(self, target):
        reader, writer = await asyncio.open_connection("127.0.0.1", random.choice(self.cluster.ports))
        try:
            writer.write(f"GET {target} HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode())
            status = int((await reader.readline()).split()[1])
            if status == 401:
                return "refused"
            while status == 200 and (line := await reader.readline()):
                if line.startswith(b"event:"):
                    # A member that cannot open the stream answers with one `closing` event.
                    return "opened" if line.split()[1] == b"stream" else None
            return None
        finally:
            writer.close()


class QuotaUser(Caller):
    """Makes and deletes subscriptions beside others with the same credentials, who may have `LIMIT` of them together."""

    def __init__(self, name, cluster, findings):
        super().__init__(name, cluster, findings)
        self.key = LIMITED_KEY

    async def run(self):
        while True:
            object, losses, history = f"{self.name}-{self.made}", self.cluster.losses, []
            self.made += 1
            rounds = [self.use(f"{object}-{index}", object, history) for index in range(3)]
            try:
                await asyncio.gather(*rounds)
            finally:
                if losses == self.cluster.losses:
                    self.findings.history += history
            if losses != self.cluster.losses:
                await self.clear()

    async def clear(self):
        """Deletes what a request made that was repeated after the log had lost its key: the next history begins with nothing."""
        while self.cluster.losses % 2:
            await asyncio.sleep(0.1)
        # Members report again what they have.
        await asyncio.sleep(REPORTING)
        paths = [None]
        while paths:
            status, answer = await self.call("GET", "/v1/subscriptions?limit=1000")
            if status == 200:
                own = (entry["id"] for entry in answer["subscriptions"] if entry["items"][0].startswith(f"q{self.name}-"))
                paths = [f"/v1/subscriptions/{id}" for id in own]
                for path in paths:
                    await self.call("DELETE", path)

    async def use(self, name, object, history):
        """Makes some subscriptions, and deletes all of them in the end: the next history begins with none."""
        paths = []
        for index in range(random.randrange(3, 7)):
            if paths and random.random() < 0.4:
                await self.until_known(history, object, "delete", "DELETE", paths.pop())
            elif path := await self.until_known(history, object, "create", "POST", f"{name}-{index}"):
                paths.append(path)
            await asyncio.sleep(random.uniform(0, 0.2))
        for path in paths:
            await self.until_known(history, object, "delete", "DELETE", path)

    async def until_known(self, history, object, action, method, target):
        """Repeats a request until its result is known. Returns the path of a subscription that it has made."""
        index = len(history)
        history.append(Operation(object, "quota", action, LIMIT, None, time.monotonic(), None))
        body, key, path = None, None, target
        if method == "POST":
            body = {"upstream": "demo", "mode": "MERGE", "items": [f"q{target}"], "fields": ["last_price"], "active": False}
            key, path = f"{target}-{random.random()}", "/v1/subscriptions"
        while True:
            status, answer = await self.call(method, path, body, key)
            # Another 429 is about the rate.
            if status in (201, 204, 404) or status == 429 and "quota" in json.dumps(answer):
                break
            await asyncio.sleep(0.1)
        result = "refused" if status == 429 else "done"
        history[index] = history[index]._replace(result=result, ended=time.monotonic())
        return f"/v1/subscriptions/{answer['id']}" if status == 201 else None


def write(history, path):
    with open(path, "w") as file:
        for operation in history:
            print(json.dumps(operation), file=file)
