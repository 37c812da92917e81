"""A small Lightstreamer server for load tests: `upstream.py PORT KIND`. It speaks HTTP streaming only.

KIND is `clock`: each of 100 items has the time of its update in seconds, once a second. `table`: the item group `rows` has
100,000 items of which 20 change each second. `diffs`: an item of 8 MB that changes by differences of seven bytes as fast as
the connection accepts them.
"""

import asyncio
import sys
import time
import urllib.parse

ROWS = 100_000
LARGE = 8_000_000


async def clock(writer, number, group, _):
    """The time of each update, spread over the second."""
    items = len(group)
    while True:
        for item in range(1, items + 1):
            writer.write(f"U,{number},{item},{time.time():.6f}\r\n".encode())
            await asyncio.sleep(1 / items)
        await writer.drain()


async def table(writer, number, _, fields):
    """All rows, then a change of one row each 50 ms."""
    for item in range(1, ROWS + 1):
        writer.write(f"U,{number},{item},{'|'.join([f'value{item}'] * fields)}\r\n".encode())
        if item % 2_000 == 0:
            await writer.drain()
    change = 0
    while True:
        change += 1
        writer.write(f"U,{number},{change % ROWS + 1},{'|'.join([f'new{change}'] * fields)}\r\n".encode())
        await writer.drain()
        await asyncio.sleep(0.05)


async def diffs(writer, number, *_):
    """A large value, then differences that copy a few bytes of it, without a pause."""
    writer.write(f"U,{number},1,{'x' * LARGE}\r\n".encode())
    while True:
        writer.write(f"U,{number},1,^Tbb\r\n".encode() * 200)
        await writer.drain()
        await asyncio.sleep(0)


class Server:
    """Sessions with one stream connection each; each subscription is fed by a coroutine, which is called with the stream, the
    number of the subscription, its items and the number of its fields."""

    def __init__(self, feed):
        self.feed = feed
        self.sessions = {}
        self.tasks = set()

    async def accept(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                fields = {name.lower(): value for name, _, value in
                          (line.partition(": ") for line in head.split("\r\n")[1:])}
                body = (await reader.readexactly(int(fields.get("content-length", 0)))).decode()
                path, _, query = head.split(" ", 2)[1].partition("?")
                name = path.split("/")[-1].removesuffix(".txt")
                if "upgrade" in fields:
                    self.answer(writer, "", "404 Not Found")
                elif name == "create_session":
                    await self.stream(writer, f"S{len(self.sessions)}", dict(urllib.parse.parse_qsl(body)))
                elif name == "bind_session":
                    parameters = dict(urllib.parse.parse_qsl(body))
                    await self.stream(writer, parameters["LS_session"], parameters)
                else:
                    self.answer(writer, self.controlled(body, dict(urllib.parse.parse_qsl(query)).get("LS_session")))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    @staticmethod
    def answer(writer, text, status="200 OK"):
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())

    async def stream(self, writer, session, parameters):
        """The first line, and probes for as long as the connection lasts. A poll is turned into a stream at once."""
        start = f"CONOK,{session},50000,5000,*\r\n"
        if "LS_polling" in parameters:
            self.sessions[session] = None
            return self.answer(writer, start + "LOOP,0\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + start.encode())
        self.sessions[session] = writer
        while not writer.is_closing():
            await asyncio.sleep(3)
            writer.write(b"PROBE\r\n")
            await writer.drain()

    def controlled(self, body, session):
        """Answers control requests and starts what they subscribe."""
        answers = ""
        for line in body.split("\r\n"):
            request = dict(urllib.parse.parse_qsl(line))
            if "LS_reqId" in request:
                answers += f"REQOK,{request['LS_reqId']}\r\n"
            writer = self.sessions.get(request.get("LS_session", session))
            if request.get("LS_op") == "add" and writer:
                number, group = request["LS_subId"], request["LS_group"].split()
                items = ROWS if group == ["rows"] else len(group)
                fields = len(request["LS_schema"].split())
                writer.write(f"SUBOK,{number},{items},{fields}\r\nCONF,{number},unlimited,filtered\r\n".encode())
                task = asyncio.create_task(self.feed(writer, number, group, fields))
                self.tasks.add(task)
                task.add_done_callback(self.ended)
        return answers

    def ended(self, task):
        self.tasks.discard(task)
        task.exception()


async def main():
    server = Server({"clock": clock, "table": table, "diffs": diffs}[sys.argv[2]])
    listening = await asyncio.start_server(server.accept, "127.0.0.1", int(sys.argv[1]), limit=1 << 22)
    print(f"upstream: http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", flush=True)
    await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
