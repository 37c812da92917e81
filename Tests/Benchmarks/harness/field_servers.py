"""The servers of the benchmark `field`, each with the way in which the same events are published to it."""

import asyncio
import contextlib
import glob
import gzip
import os
import subprocess
import sys

from processes import PRODUCT, ROOT, SERVER_CORE, gateway, has_nchan, nchan, pinned, stop

sys.path.insert(0, os.path.join(PRODUCT, "Tests", "Soak"))

import upstream

LIBRARIES = {"aiohttp-sse": ["aiohttp-sse", "aiohttp"], "sse-starlette": ["sse-starlette", "uvicorn"]}
PYTHON = next(filter(os.path.exists, [os.path.join(PRODUCT, ".venv", "bin", "python"), sys.executable]))


class Upstream(upstream.Server):
    """The Lightstreamer server of the gateway. An event is an update of an item with the fields `seq`, `at` and `text`."""

    def __init__(self):
        super().__init__(self.subscribed)
        self.readers = {}

    async def subscribed(self, writer, number, group, _):
        self.readers.setdefault(group[0], []).append((writer, number))

    def send(self, item, seq, at, text):
        for writer, number in self.readers.get(item, []):
            writer.write(f"U,{number},1,{seq}|{at}|{text}\r\n".encode())


class Poster:
    """Publishes by `POST` on one connection, without waiting for the responses. An event is the JSON of the fields."""

    def __init__(self, reader, writer):
        self.writer = writer
        self.responses = asyncio.create_task(self.discard(reader))

    @staticmethod
    async def discard(reader):
        while await reader.read(1 << 16):
            pass

    def send(self, item, seq, at, text):
        body = f'{{"seq":"{seq}","at":"{at}","text":"{text}"}}'
        head = f"POST /items/publish?item={item} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
        self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())


class Contender:
    """A running server: its port and process, the path of an item's stream, and `send`, which publishes an event."""

    def __init__(self, port, pid, path, send):
        self.port = port
        self.pid = pid
        self.path = path
        self.send = send


@contextlib.asynccontextmanager
async def this_gateway(program):
    """This gateway over the upstream."""
    source = Upstream()
    listening = await asyncio.start_server(source.accept, "127.0.0.1", 0, limit=1 << 22)
    try:
        with gateway(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", program=program) as running:
            path = "/v1/stream?mode=RAW&fields=seq,at,text&items="
            yield Contender(running.port, running.pid, path, source.send)
    finally:
        listening.close()


@contextlib.asynccontextmanager
async def posted_to(server):
    """A server with the paths `/items/stream` and `/items/publish`."""
    with server as (port, pid):
        poster = Poster(*await asyncio.open_connection("127.0.0.1", port))
        try:
            yield Contender(port, pid, "/items/stream?item=", poster.send)
        finally:
            poster.responses.cancel()
            poster.writer.close()


@contextlib.contextmanager
def nginx():
    """nginx with nchan."""
    with nchan() as running:
        yield running.port, running.pid


@contextlib.contextmanager
def library(name):
    """A library of PyPI on its HTTP server."""
    script = os.path.join(os.path.dirname(__file__), "sse_server.py")
    command = pinned(SERVER_CORE, PYTHON, script, name)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield int(process.stdout.readline().split()[1]), process.pid
    finally:
        stop(process)


def contenders(program):
    """The installed servers with their versions, and the names of the missing ones."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    found = {"gateway": (version, lambda: this_gateway(program))}
    missing = []
    if has_nchan():
        found["nchan"] = (nchan_version(), lambda: posted_to(nginx()))
    else:
        missing.append("nchan (Debian's libnginx-mod-nchan)")
    for name, packages in LIBRARIES.items():
        if version := installed(packages):
            found[name] = (version, lambda name=name: posted_to(library(name)))
        else:
            missing.append(f"{name} (PyPI)")
    return found, missing


def nchan_version():
    """The version of the Debian package."""
    with gzip.open(glob.glob(os.path.join(ROOT, "usr/share/doc/libnginx-mod-nchan/changelog*.gz"))[0], "rt") as file:
        return file.readline().split("(")[1].split(")")[0]


def installed(packages):
    """The versions of packages of PyPI, with those of the optional accelerators; nothing if one is missing."""
    script = """import importlib.metadata as found, sys
for name in sys.argv[1:]: print(name, found.version(name), end=", ")
for name in "uvloop", "httptools":
    try: print(name, found.version(name), end=", ")
    except found.PackageNotFoundError: pass"""
    done = subprocess.run([PYTHON, "-c", script, *packages], capture_output=True, text=True)
    return done.stdout.removesuffix(", ") if done.returncode == 0 else ""
