"""Examples/python/gateway_client.py while its connections are cut, its stream is deleted and the upstream is lost, at random.

    python follow_faults.py .build/debug/lightstreamer-gateway [--operations 40] [--seed 7]

Ends 0 if no numbered event was lost or doubled, and the tables equal those of the gateway in the end; prints the seed.
"""

import argparse
import asyncio
import contextlib
import json
import pathlib
import random
import sys
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "Browser"), str(TESTS.parent / "Examples/python")]

import gateway
import gateway_client
from gateway_client import Refused, Subscription, follow

PATIENCE = 30
PORTFOLIO = {
    "upstream": "demo", "mode": "COMMAND", "items": ["portfolio1"], "fields": ["key", "command", "qty"],
    "dataAdapter": "PORTFOLIO_ADAPTER", "commandSecondLevelFields": ["stock_name", "last_price"],
    "commandSecondLevelDataAdapter": "QUOTE_ADAPTER",
}
QUOTES = {"upstream": "demo", "mode": "MERGE", "items": ["item1", "item2"], "fields": ["stock_name", "last_price"]}
NUMBERED = {
    "upstream": "demo", "mode": "RAW", "items": ["raw1", "raw2", "raw3"], "fields": ["number", "time", "text"],
    "dataAdapter": "RAW_FEED",
}


class Relay:
    """Passes connections on to the gateway, and can cut them."""

    def __init__(self, port):
        self.port = port
        self.writers = set()

    async def accept(self, reader, writer):
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", self.port)
        pair = {writer, upstream_writer}
        self.writers |= pair
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await asyncio.gather(self.pass_on(reader, upstream_writer), self.pass_on(upstream_reader, writer))
        self.writers -= pair

    async def pass_on(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        writer.close()

    def cut(self):
        for writer in list(self.writers):
            writer.transport.abort()


def truth(address, subscription):
    """The gateway's table of a subscription, in the form of the client's."""
    items = gateway.get(f"{address}/v1/subscriptions/{subscription.id}/values")["items"]
    if subscription.spec["mode"] == "COMMAND":
        rows = {(item["item"], key): row for item in items for key, row in item["keys"].items()}
    else:
        rows = {item["item"]: item["fields"] for item in items}
    return without_commands(rows)


def without_commands(rows):
    return {id: {name: value for name, value in row.items() if name != "command"} for id, row in rows.items()}


class Reader:
    """Follows three subscriptions and checks the numbers."""

    def __init__(self):
        self.tables = [Subscription(PORTFOLIO), Subscription(QUOTES)]
        self.numbered = Subscription(NUMBERED)
        self.last = {}
        self.states = []
        self.faults = []
        self.count = 0
        self.changed = asyncio.Condition()

    def show(self, state, reason):
        self.states.append(f"{state}: {reason}")
        if state == "open" and reason != "resumed":
            self.last.clear()

    async def run(self, address):
        async for subscription, update in follow(address, *self.tables, self.numbered, state=self.show):
            if subscription is self.numbered:
                self.check(update["item"], int(subscription.events[-1][1]["number"]))
            async with self.changed:
                self.changed.notify_all()

    def check(self, item, number):
        before = self.last.get(item, number - 1)
        if number != before + 1:
            self.faults.append(f"{item}: {number} after {before}")
        self.last[item] = number
        self.count += 1

    async def until(self, condition, words):
        async def wait():
            async with self.changed:
                await self.changed.wait_for(condition)

        try:
            await asyncio.wait_for(wait(), PATIENCE)
        except TimeoutError as error:
            raise RuntimeError(f"never: {words}; {self.states[-3:]}") from error


async def follow_under_faults(address, operations, generator):
    server = gateway.get(f"{address}/v1/upstreams/demo")["serverAddress"]
    relay = Relay(int(address.rsplit(":", 1)[1]))
    listener = await asyncio.start_server(relay.accept, "127.0.0.1", 0)
    reader = Reader()
    task = asyncio.create_task(reader.run(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"))
    for _ in range(operations):
        seen = reader.count + generator.randint(1, 6)
        await reader.until(lambda seen=seen: reader.count >= seen or task.done(), "numbered events")
        action = generator.choices(("cut", "delete", "drop", "loop"), (6, 2, 2, 1))[0]
        if action == "cut":
            relay.cut()
        elif action == "delete":
            for stream in gateway.streams(address):
                gateway.delete(f"{address}/v1/streams/{stream['id']}")
        else:
            gateway.post(f"{server}/demo/faults", action)
    for table in reader.tables:
        await reader.until(lambda table=table: without_commands(table.rows) == truth(address, table), "equal tables")
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    relay.cut()
    listener.close()
    if reader.faults:
        raise RuntimeError("; ".join(reader.faults[:5]))
    return reader


async def refusals_are_final(address):
    try:
        async for _ in follow(address, Subscription({**QUOTES, "upstream": "nope"})):
            pass
    except Refused as refusal:
        if refusal.problem["code"] == "unknown-upstream":
            return
    raise RuntimeError("an unknown upstream is not a refusal")


async def feeds_tell_their_mode(address):
    """A COMMAND table has a row for each key, also where the subscription names no mode."""
    table = Subscription({"feed": "portfolio", "items": ["portfolio1"]})

    async def until_full():
        async for _ in follow(address, table):
            if len(table.rows) > 2:
                return

    await asyncio.wait_for(until_full(), PATIENCE)
    if table.mode != "COMMAND" or not all(isinstance(row, tuple) for row in table.rows):
        raise RuntimeError(f"the table of a feed: {table.mode}, {list(table.rows)}")


async def values_have_any_characters(address):
    """Python takes more characters for line ends than Server-Sent Events do."""
    text = "one\u2028two\x85three"
    chat = Subscription({"feed": "chat", "requestedSnapshot": "yes"})

    async def until_sent():
        async for _, update in follow(address, chat):
            if update["fields"].get("message") == text:
                return

    reading = asyncio.create_task(until_sent())
    message = json.dumps({"text": f"CHAT|{text}"}, ensure_ascii=False).encode()
    request = urllib.request.Request(f"{address}/v1/messages", message, {"Content-Type": "application/json"})
    await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=10).close())
    await asyncio.wait_for(reading, PATIENCE)


async def rare_heartbeats_are_awaited():
    """A gateway whose heartbeats are rarer than the silence after which a stream is lost."""
    source = {"subscription": "s", "mode": "MERGE"}
    begin = json.dumps({"stream": "stream", "sources": [source], "resume": "fresh"})
    gateway_client.SILENCE = 0.4
    arrived = asyncio.Event()

    async def accept(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        if not head.startswith(b"GET"):
            writer.write(json.dumps({"id": "stream", "sources": [source]}).encode())
            return writer.close()
        writer.write(f"event: stream\ndata: {begin}\n\n".encode())
        with contextlib.suppress(OSError):
            for _ in range(4):
                await asyncio.sleep(0.6)
                writer.write(b":\n\n")
                await writer.drain()
            arrived.set()
        writer.close()

    listener = await asyncio.start_server(accept, "127.0.0.1", 0)

    async def read():
        async for _ in follow(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", Subscription(QUOTES)):
            pass

    task = asyncio.create_task(read())
    try:
        await asyncio.wait_for(arrived.wait(), PATIENCE)
    finally:
        gateway_client.SILENCE = 60.0
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        listener.close()


def main(binary, operations, seed):
    asyncio.run(rare_heartbeats_are_awaited())
    with gateway.demo(binary) as (address, _):
        asyncio.run(refusals_are_final(address))
        asyncio.run(feeds_tell_their_mode(address))
        asyncio.run(values_have_any_characters(address))
        reader = asyncio.run(follow_under_faults(address, operations, random.Random(seed)))
        resumed = sum(state == "open: resumed" for state in reader.states)
    print(f"python: seed {seed}, {operations} faults, {resumed} resumed streams, {reader.count} numbered events; 0 lost, 0 doubled")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--operations", type=int, default=12)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    arguments = parser.parse_args()
    try:
        main(arguments.binary, arguments.operations, arguments.seed)
    except Exception as problem:
        sys.exit(f"python: seed {arguments.seed}: {problem}")
