"""The program under test, its HTTP connections, and what all load scripts of this folder share."""

import asyncio
import contextlib
import json
import pathlib
import random
import re
import socket


class Process:
    """A subcommand of the program under test."""

    def __init__(self, binary, *arguments, errors=asyncio.subprocess.DEVNULL, environment=None):
        self.arguments = (binary, *arguments)
        self.errors = errors
        self.environment = environment
        self.process = None

    async def start(self):
        """Starts the program and returns the address that it prints."""
        self.process = await asyncio.create_subprocess_exec(
            *self.arguments, stdout=asyncio.subprocess.PIPE, stderr=self.errors, env=self.environment)
        line = (await asyncio.wait_for(self.process.stdout.readline(), 20)).decode()
        return re.search(r"http://\S+", line).group(0)

    async def stop(self, kill=False):
        if self.process and self.process.returncode is None:
            (self.process.kill if kill else self.process.terminate)()
            await self.process.wait()

    def resources(self):
        """Resident memory in KiB, open descriptors and threads."""
        root = pathlib.Path(f"/proc/{self.process.pid}")
        status = dict(line.split(":", 1) for line in (root / "status").read_text().splitlines() if ":" in line)
        return int(status["VmRSS"].split()[0]), len(list((root / "fd").iterdir())), int(status["Threads"])


@contextlib.asynccontextmanager
async def opened(port, path, receive_buffer=None):
    """Sends a GET and gives the reader of the response, until the block ends."""
    link = socket.socket()
    if receive_buffer:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    link.setblocking(False)
    await asyncio.get_running_loop().sock_connect(link, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=link)
    writer.write(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n\r\n".encode())
    try:
        await writer.drain()
        yield reader
    finally:
        writer.transport.abort()


async def read_events(reader, on_event):
    """Calls on_event(name, id, data) for each event until the stream ends or on_event returns True."""
    name = identity = data = None
    while line := await reader.readline():
        field, _, value = line.decode().rstrip("\r\n").partition(": ")
        if field == "event":
            name = value
        elif field == "id":
            identity = value
        elif field == "data":
            data = value
        elif not field and name:
            if on_event(name, identity, data):
                return
            name = identity = data = None


async def call(port, method, path, body=None):
    """One request; returns status, headers and body."""
    text = json.dumps(body) if body is not None else ""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write((f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
                  f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}").encode())
    head, _, rest = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    lines = head.split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    return int(lines[0].split(" ")[1]), headers, rest


def free_port():
    """A port below those that outgoing connections get: one of them could take the port of a process that is down."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as limits:
        first = int(limits.read().split()[0])
    while True:
        port = random.SystemRandom().randrange(10_000, max(10_001, first))
        with socket.socket() as listening, contextlib.suppress(OSError):
            listening.bind(("127.0.0.1", port))
            return port


async def descriptors_at_rest(gateway, wanted):
    """The descriptors once the readers have gone, given time to close."""
    for _ in range(60):
        if gateway.resources()[1] <= wanted:
            break
        await asyncio.sleep(0.5)
    return gateway.resources()[1]


async def end(tasks):
    """Cancels tasks until they end, and returns what they raised. One call of `cancel` is not enough: before Python 3.12,
    `asyncio.wait_for` loses a cancellation that comes at the moment at which it ends."""
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=1)
    return [task.exception() for task in tasks if not task.cancelled() and task.exception()]
