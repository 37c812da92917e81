"""The measurement of Tests/Soak/delays: how long heavy requests delay others.

Another process asks for /health/live all the time, on connections of its own. The table shows its slowest answer during
each heavy request, and that of an idle gateway. Only a release build on a quiet machine says something.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import socket
import sys
import time

from harness import Process, call

# The sizes of the tables of item groups, in items and fields; that of `medium` has values.
TABLES = {"large": (65_536, 64), "medium": (500, 64)}
JOINS = 10_000
TOGETHER = 60


def probe(port, pipe):
    """Asks on one connection again and again; sends the time and duration of each answer in the end."""
    os.nice(-10 if os.geteuid() == 0 else 0)
    link = socket.create_connection(("127.0.0.1", port))
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    request = f"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    found = []
    while not pipe.poll():
        began = time.monotonic()
        link.sendall(request)
        if not link.recv(65536):
            raise EOFError("the connection of the probe was closed")
        ended = time.monotonic()
        found.append((began, ended))
        time.sleep(0.001)
    pipe.send(found)


class LargeServer:
    """An upstream that confirms every subscription; the item groups of `TABLES` have tables of these sizes."""

    async def start(self):
        self.stream = None
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def accept(self, reader, writer):
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                length = next((int(line.split(":")[1]) for line in head.split("\r\n")
                               if line.lower().startswith("content-length:")), 0)
                body = (await reader.readexactly(length)).decode()
                start = "CONOK,S1,50000,5000,*\r\n"
                if "/bind_session" in head:
                    self.stream = writer
                    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{start}".encode())
                    continue
                answers = start + "LOOP,0\r\n" if "/create_session" in head else ""
                for line in body.split("\r\n"):
                    values = dict(pair.partition("=")[::2] for pair in line.split("&"))
                    if "LS_reqId" not in values:
                        continue
                    answers += f"REQOK,{values['LS_reqId']}\r\n"
                    if values.get("LS_op") == "add":
                        subscription, group = values["LS_subId"], values["LS_group"]
                        items, fields = TABLES.get(group, (1, 1))
                        lines = f"SUBOK,{subscription},{items},{fields}\r\n"
                        if group == "medium":
                            row = "|".join(["12345678"] * fields)
                            lines += "".join(f"U,{subscription},{item},{row}\r\n" for item in range(1, items + 1))
                        self.stream.write(lines.encode())
                    elif values.get("LS_op") == "delete":
                        self.stream.write(f"UNSUB,{values['LS_subId']}\r\n".encode())
                writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(answers)}\r\n\r\n"
                             f"{answers}".encode())
        except (asyncio.IncompleteReadError, OSError):
            writer.close()


def joins(first, count):
    return [{"upstream": "large", "mode": "MERGE", "items": [f"i{first + number}"], "fields": ["f"]}
            for number in range(count)]


async def together(port, path):
    """Many requests on connections of their own at the same time; the answer to the last one."""
    return (await asyncio.gather(*(call(port, "GET", path) for _ in range(TOGETHER))))[-1]


async def heavy_requests(port):
    """Each heavy request, with its name."""
    yield "nothing", lambda: asyncio.sleep(2)
    medium = {"upstream": "large", "mode": "MERGE", "itemGroup": "medium", "fieldSchema": "medium"}
    medium = (await call(port, "POST", "/v1/subscriptions", medium))[1].get("location", "")

    async def complete():
        while len((await call(port, "GET", medium + "/values"))[2]) < 8 * 500 * 64:
            await asyncio.sleep(0.1)
    await complete()
    yield f"{TOGETHER} GETs of the values of a medium table", lambda: together(port, medium + "/values")
    for path in ("/docs", "/openapi.yaml", "/metrics"):
        yield f"GET {path}", lambda path=path: call(port, "GET", path)
    large = {"upstream": "large", "mode": "MERGE", "itemGroup": "large", "fieldSchema": "large"}
    status, headers, _ = await call(port, "POST", "/v1/subscriptions", large)
    place = headers.get("location", "")

    async def confirmed():
        while json.loads((await call(port, "GET", place))[2]).get("subscribed") is not True:
            await asyncio.sleep(0.1)
    yield "SUBOK of the largest table", confirmed
    yield "GET values of the largest table", lambda: call(port, "GET", place + "/values")
    yield "GET the largest subscription", lambda: call(port, "GET", place)
    yield "DELETE the largest subscription", lambda: call(port, "DELETE", place)
    yield "POST a stream of 10,000 joins", lambda: call(port, "POST", "/v1/streams", {"sources": joins(0, JOINS)})
    yield "POST the same joins", lambda: call(port, "POST", "/v1/streams", {"sources": joins(0, JOINS)})
    yield "POST a subscription of 100,000 items", lambda: call(
        port, "POST", "/v1/subscriptions",
        {"upstream": "large", "mode": "MERGE", "items": [f"j{n}" for n in range(100_000)], "fields": ["f"]})
    yield "POST 1 MB of numbers", lambda: call(port, "POST", "/v1/streams", {"sources": [0] * 300_000})
    yield "POST 1 MB of members", lambda: call(port, "POST", "/v1/streams", {f"m{n}": 0 for n in range(80_000)})
    yield "POST 1 MB of nested arrays", lambda: call(port, "POST", "/v1/streams", {"sources": [[[[0]]]] * 90_000})
    yield "GET a page of 1,000 subscriptions", lambda: call(port, "GET", "/v1/subscriptions?limit=1000")
    _, _, text = await call(port, "GET", "/v1/subscriptions?limit=1000")
    cursor = json.loads(text)["nextCursor"]
    yield "GET the page behind it", lambda: call(port, "GET", f"/v1/subscriptions?limit=1000&cursor={cursor}")
    yield "GET /metrics with the joins", lambda: call(port, "GET", "/metrics")
    yield "GET a stream of many parameters", lambda: call(port, "GET", "/v1/stream?" + "&".join(["item=a"] * 2_000))


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--limit", type=float, default=50, help="milliseconds beyond which the test fails")
    options = parser.parse_args()
    upstream = await LargeServer().start()
    settings = {"http.threads": 1, "upstreams.large.maxSubscriptions": 1_000_000, "pool.maxSubscriptions": 1_000_000,
                "upstreams.large.maxSubscriptionsPerSession": 1_000_000, "upstreams.large.maxItems": 100_000_000,
                "upstreams.large.options.forcedTransport": "HTTP-STREAMING"}
    arguments = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    arguments += ["--upstream", f"large=http://127.0.0.1:{upstream}"]
    gateway = Process(options.binary, "serve", "--port", "0", *arguments)
    port = int((await gateway.start()).rsplit(":", 1)[1])
    pipe, end = multiprocessing.Pipe()
    prober = multiprocessing.Process(target=probe, args=(port, end))
    prober.start()
    windows = []
    try:
        async for name, request in heavy_requests(port):
            began = time.monotonic()
            outcome = await asyncio.wait_for(request(), 60)
            windows.append((name, began, time.monotonic(), outcome[0] if isinstance(outcome, tuple) else ""))
            await asyncio.sleep(0.2)
    finally:
        pipe.send(None)
        answers = pipe.recv()
        prober.join()
        await gateway.stop()
    failed = False
    print("  slowest answer ms   request ms   status   request")
    for name, began, ended, status in windows:
        # The work of a request can go on for a moment behind its answer.
        worst = max((1000 * (to - since) for since, to in answers if to >= began and since <= ended + 0.2), default=0)
        failed |= worst > options.limit
        verdict = "FAIL" if worst > options.limit else "    "
        print(f"{verdict}  {worst:13.1f}  {1000 * (ended - began):11.0f}   {status:6}   {name}")
    sys.exit(failed)


if __name__ == "__main__":
    asyncio.run(main())
