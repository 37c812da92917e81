"""The fault suite of Tests/Soak/faults: connections that break in every way, on both sides of the gateway.

Each scenario follows the numbered events of the demo server's RAW feed. A number may be missing or repeated only where the
stream reports a gap, lost updates or a new subscription.
"""

import argparse
import asyncio
import contextlib
import email.utils
import json
import os
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from harness import Process, call, descriptors_at_rest, end, free_port, opened, read_events

NUMBERS = "/v1/stream?upstream={upstream}&mode=RAW&items=raw1&fields=number&dataAdapter=RAW_FEED&conflate=false"
PATIENCE = 40
# Short times, so that a silent connection is given up within seconds.
QUICK = {"stalledTimeout": "0.5", "reconnectTimeout": "0.5", "keepaliveInterval": "1", "retryDelay": "0.2",
         "currentConnectTimeout": "1", "sessionRecoveryTimeout": "5"}


@contextlib.contextmanager
def preloaded(source):
    """The environment of a process that loads a C file of this folder before its other libraries."""
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "preloaded.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), source)
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        # Beside the library that the thread sanitizer needs.
        loaded = " ".join(filter(None, [library, os.environ.get("LD_PRELOAD")]))
        yield {**os.environ, "LD_PRELOAD": loaded}


class Relay:
    """A TCP relay in front of the demo server whose connections can be broken."""

    def __init__(self, target):
        self.target = target
        self.port = None
        self.server = None
        self.links = set()
        self.cut_after = None
        self.inject = None
        self.is_stalled = False

    async def start(self):
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", self.port or 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def refuse(self):
        """Closes the listening socket and all connections."""
        self.server.close()
        self.drop()

    def drop(self, reset=False):
        for client, upstream in list(self.links):
            if reset:
                client.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.transport.abort()
            upstream.transport.abort()

    async def accept(self, reader, writer):
        try:
            upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        link = (writer, upstream_writer)
        self.links.add(link)
        try:
            await asyncio.wait([asyncio.create_task(self.pump(reader, upstream_writer, False)),
                                asyncio.create_task(self.pump(upstream_reader, writer, True))],
                               return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.links.discard(link)
            writer.transport.abort()
            upstream_writer.transport.abort()

    async def pump(self, reader, writer, is_from_server):
        """Forwards bytes; from the server, `cut_after` lines end the connection once."""
        lines = 0
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                while self.is_stalled:
                    await asyncio.sleep(0.05)
                if is_from_server and self.inject and b"U," in data:
                    data, self.inject = data + self.inject, None
                if is_from_server and self.cut_after is not None:
                    parts = data.split(b"\r\n")
                    if lines + len(parts) - 1 >= self.cut_after:
                        keep, self.cut_after = self.cut_after - lines, None
                        writer.write(b"\r\n".join(parts[:keep]) + b"\r\n")
                        await writer.drain()
                        return
                    lines += len(parts) - 1
                writer.write(data)
                await writer.drain()


class NumberReader:
    """Reads a stream of numbered events and checks that none is missing or repeated."""

    def __init__(self):
        self.number = None
        self.count = 0
        self.findings = []
        self.names = []

    def take(self, name, _identity, data):
        self.names.append(name)
        if name == "update":
            number = int(json.loads(data)["fields"]["number"])
            if self.number is not None and number != self.number + 1:
                self.findings.append(f"{number} after {self.number}")
            self.number = number
            self.count += 1
        elif name in ("subscribed", "unsubscribed", "lost-updates") or (
                name == "stream" and json.loads(data)["resume"] != "resumed"):
            self.number = None

    async def read(self, port, path, until):
        """Reads until `until(self)` holds."""
        def on_event(*event):
            self.take(*event)
            return until(self)
        async with opened(port, path) as reader:
            await asyncio.wait_for(read_events(reader, on_event), PATIENCE)


class Fixture:
    """A demo server, relays in front of it, and a gateway with one upstream for each relay."""

    def __init__(self, binary, relays, *arguments, errors=subprocess.DEVNULL, environment=None,
                 host="127.0.0.1"):
        self.binary, self.arguments, self.errors, self.environment = binary, arguments, errors, environment
        self.host = host
        self.demo_port = free_port()
        self.demo = Process(binary, "demo-server", "--port", str(self.demo_port))
        self.relays = [Relay(self.demo_port) for _ in range(relays)]

    async def __aenter__(self):
        await self.demo.start()
        settings = []
        for number, relay in enumerate(self.relays):
            await relay.start()
            settings += ["--upstream", f"u{number}=http://{self.host}:{relay.port},DEMO"]
            for name, value in QUICK.items():
                settings += ["--set", f"upstreams.u{number}.options.{name}={value}"]
        self.gateway = Process(self.binary, "serve", "--port", "0", *settings, *self.arguments, errors=self.errors,
                               environment=self.environment)
        self.port = int((await self.gateway.start()).rsplit(":", 1)[1])
        self.descriptors = self.gateway.resources()[1]
        return self

    async def __aexit__(self, *_):
        for relay in self.relays:
            await relay.refuse()
        await self.gateway.stop()
        await self.demo.stop()

    async def follow(self, number, fault, events_before=3, events_after=5, reader=None):
        """Reads events of an upstream, lets the fault happen, and reads on until new events arrive."""
        reader = reader or NumberReader()
        path = NUMBERS.format(upstream=f"u{number}")
        running = asyncio.create_task(reader.read(self.port, path, lambda r: r.count >= limit[0]))
        limit = [float("inf")]
        while reader.count < events_before and not running.done():
            await asyncio.sleep(0.02)
        await fault(self.relays[number])
        limit[0] = reader.count + events_after
        await running
        return reader.findings


# Scenarios. Each returns its findings.


async def cut_after_every_line(binary, thorough):
    """The upstream connection is cut after its first, second, … line."""
    count = 60 if thorough else 16
    async with Fixture(binary, count) as fixture:
        async def one(number):
            fixture.relays[number].cut_after = number + 1
            reader = NumberReader()
            await reader.read(fixture.port, NUMBERS.format(upstream=f"u{number}"), lambda r: r.count >= 10)
            return [f"cut after line {number + 1}: {finding}" for finding in reader.findings]
        return sum(await asyncio.gather(*map(one, range(count))), [])


async def connections_that_break(binary, _):
    """Closed, reset, stalled for a while, silent for good, and refused for a while: all at the same time."""
    async def closed(relay):
        relay.drop()

    async def reset(relay):
        relay.drop(reset=True)

    async def stalled(relay):
        relay.is_stalled = True
        await asyncio.sleep(4)
        relay.is_stalled = False

    async def half_open(relay):
        for _, upstream in list(relay.links):
            upstream.transport.pause_reading()
            upstream.transport.set_protocol(asyncio.Protocol())

    async def refused(relay):
        await relay.refuse()
        await asyncio.sleep(3)
        await relay.start()

    faults = [closed, reset, stalled, half_open, refused]
    async with Fixture(binary, len(faults)) as fixture:
        outcomes = await asyncio.gather(*(fixture.follow(number, fault) for number, fault in enumerate(faults)))
        return [f"{fault.__name__}: {finding}" for fault, found in zip(faults, outcomes) for finding in found]


async def restarted_server(binary, _):
    """The server ends without closing its sessions and starts again without them."""
    async with Fixture(binary, 1) as fixture:
        async def restart(_relay):
            await fixture.demo.stop(kill=True)
            await fixture.demo.start()
        return await fixture.follow(0, restart)


async def restarted_server_with_its_sessions(binary, _):
    """The server is away for a while and then still has its sessions: the session is recovered, and nothing is lost."""
    async with Fixture(binary, 1) as fixture:
        reader = NumberReader()

        async def restart(relay):
            await relay.refuse()
            await asyncio.sleep(1)
            await relay.start()
        found = await fixture.follow(0, restart, reader=reader)
        lost = [name for name in ("unsubscribed", "lost-updates") if name in reader.names]
        return found + [f"the reader received {name}" for name in lost]


async def slow_name_lookup(binary, _):
    """Names whose lookup does not end: an upstream of another name reconnects, and other requests are answered."""
    slow = [f"slow{number}" for number in range(4)]
    settings = []
    for name in slow:
        settings += ["--upstream", f"{name}=http://{name}.slow.test:80,DEMO"]
        settings += ["--set", f"upstreams.{name}.options.retryDelay=0.2"]
    with preloaded("lookup.c") as environment:
        async with Fixture(binary, 1, *settings, environment=environment, host="localhost") as fixture:
            waiting = [asyncio.create_task(dead_reader(fixture.port, NUMBERS.format(upstream=name), seconds=PATIENCE))
                       for name in slow]
            await asyncio.sleep(1)

            async def drop(relay):
                relay.drop()
            found = await fixture.follow(0, drop)
            for path in ("/health/live", "/v1/upstreams"):
                status, _, _ = await asyncio.wait_for(call(fixture.port, "GET", path), PATIENCE)
                found += [] if status == 200 else [f"{path} returned {status}"]
            await end(waiting)
            return found


async def wrong_data(binary, _):
    """Lines that are no TLCP, in the middle of a stream."""
    lines = [b"NONSENSE,1,2\r\n", b"U,99,1,a|b\r\n", b"U,1,99999,x\r\n", b"\xff\xfe\r\n", b"U,1,1,^Pnot a patch\r\n",
             b"PROG,18446744073709551616\r\n", b"SYNC,-1\r\n"]
    async with Fixture(binary, len(lines), *[
            argument for number in range(len(lines))
            for argument in ("--set", f"upstreams.u{number}.options.forcedTransport=HTTP-STREAMING")]) as fixture:
        async def one(number):
            async def inject(relay):
                relay.inject = lines[number]
                await asyncio.sleep(1)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(fixture.follow(number, inject), 8)
        await asyncio.gather(*map(one, range(len(lines))))
        status, _, _ = await call(fixture.port, "GET", "/health/live")
        return [] if status == 200 else [f"/health/live returned {status}"]


async def readers_that_misbehave(binary, thorough):
    """Quick connects, half requests, dead readers; descriptors return to what they were."""
    async with Fixture(binary, 1) as fixture:
        stream = NUMBERS.format(upstream="u0")
        steady = NumberReader()
        running = asyncio.create_task(steady.read(fixture.port, stream, lambda r: r.count >= limit[0]))
        limit = [float("inf")]
        for _ in range((10_000 if thorough else 1_000) // 100):
            async def quick():
                _, writer = await asyncio.open_connection("127.0.0.1", fixture.port)
                writer.transport.abort()
            await asyncio.gather(*(quick() for _ in range(100)))
        halves = []
        for part in (b"G", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"POST /v1/streams HTTP/1.1\r\n"
                     b"Host: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"):
            _, writer = await asyncio.open_connection("127.0.0.1", fixture.port)
            writer.write(part)
            halves.append(writer)
        await asyncio.gather(*(dead_reader(fixture.port, stream) for _ in range(50)))
        limit[0] = steady.count + 5
        await running
        for writer in halves:
            writer.transport.abort()
        rest = await descriptors_at_rest(fixture.gateway, fixture.descriptors + 4)
        found = steady.findings
        if rest > fixture.descriptors + 4:
            found.append(f"descriptors: {fixture.descriptors} before, {rest} after")
        return found


async def dead_reader(port, path, seconds=0.2):
    """Opens a stream and leaves without reading."""
    async with opened(port, path):
        await asyncio.sleep(seconds)


async def signals_under_load(binary, _):
    """SIGHUP again and again, then SIGTERM: streams go on, then end with `closing`; the exit status is 0."""
    async with Fixture(binary, 1) as fixture:
        readers = [NumberReader() for _ in range(20)]
        path = NUMBERS.format(upstream="u0")
        running = [asyncio.create_task(reader.read(fixture.port, path, lambda r: False)) for reader in readers]
        while min(reader.count for reader in readers) < 3:
            await asyncio.sleep(0.05)
        for _ in range(20):
            fixture.gateway.process.send_signal(signal.SIGHUP)
            await asyncio.sleep(0.02)
        before = max(reader.count for reader in readers)
        while min(reader.count for reader in readers) < before + 3:
            await asyncio.sleep(0.05)
        fixture.gateway.process.send_signal(signal.SIGTERM)
        status = await asyncio.wait_for(fixture.gateway.process.wait(), PATIENCE)
        await asyncio.gather(*running)
        found = sum((reader.findings for reader in readers), [])
        found += ["a stream ended without closing" for reader in readers if reader.names[-1] != "closing"]
        return found + ([f"exit status {status}"] if status else [])


async def logs_that_cannot_be_written(binary, _):
    """Standard error is a full disk, or a pipe whose reader has gone."""
    found = []
    full = os.open("/dev/full", os.O_WRONLY)
    source, sink = os.pipe()
    os.close(source)
    for name, errors in (("full disk", full), ("closed pipe", sink)):
        async with Fixture(binary, 1, "--log-level", "trace", errors=errors) as fixture:
            async def nothing(_relay):
                pass
            found += [f"{name}: {finding}" for finding in await fixture.follow(0, nothing)]
        os.close(errors)
    return found


async def few_descriptors(binary, _):
    """With too few descriptors the program refuses to start; with just enough, the health check always answers."""
    shell = ["bash", "-c", 'ulimit -n "$1"; shift; exec "$@"', "bash"]
    refusal = subprocess.run([*shell, "40", binary, "serve", "--port", "0"], capture_output=True, text=True, timeout=20)
    found = [] if refusal.returncode and "descriptor" in refusal.stderr else [
        f"40 descriptors: exit status {refusal.returncode}, {refusal.stderr[-200:]!r}"]
    gateway = Process(*shell, "300", binary, "serve", "--port", "0", "--set", "http.maxConnections=100",
                      "--set", "pool.maxDedicatedClients=10")
    try:
        port = int((await gateway.start()).rsplit(":", 1)[1])
    except (AttributeError, asyncio.TimeoutError):
        return found + ["300 descriptors are refused for 100 connections"]
    writers = [(await asyncio.open_connection("127.0.0.1", port))[1] for _ in range(100)]
    for path, expected in (("/health/live", 200), ("/metrics", 200), ("/v1/clients", 503)):
        status, _, _ = await asyncio.wait_for(call(port, "GET", path), PATIENCE)
        found += [] if status == expected else [f"{path} returned {status} while all connections were in use"]
    for writer in writers:
        writer.transport.abort()
    await gateway.stop()
    return found


async def connections_that_the_system_refuses(binary, _):
    """The process reaches its limit of descriptors: one warning is logged, the health check answers nevertheless, and
    service resumes when descriptors are free."""
    async with Fixture(binary, 1, errors=subprocess.PIPE) as fixture:
        async def health():
            status, _, _ = await asyncio.wait_for(call(fixture.port, "GET", "/health/live"), PATIENCE)
            if status != 200:
                raise ValueError(f"/health/live returned {status}")

        async def refuse(_relay):
            process = fixture.gateway.process
            _, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (fixture.gateway.resources()[1] + 3, hard))
            writers = [(await asyncio.open_connection("127.0.0.1", fixture.port))[1] for _ in range(10)]
            while b"refused by the system" not in (line := await process.stderr.readline()):
                if not line:
                    raise EOFError("the gateway ended")
            await health()
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (hard, hard))
            await health()
            for writer in writers:
                writer.transport.abort()
        found = await asyncio.wait_for(fixture.follow(0, refuse), 2 * PATIENCE)
        fixture.gateway.process.terminate()
        log = await fixture.gateway.process.stderr.read()
        return found + (["more than one warning"] if b"refused by the system" in log else [])


async def clock_steps(binary, _):
    """The clock of the system is set forward and back by days."""
    with preloaded("clock.c") as environment, tempfile.TemporaryDirectory() as folder:
        offset = environment["CLOCK_OFFSET_FILE"] = os.path.join(folder, "offset")
        pathlib.Path(offset).write_text("0")
        async with Fixture(binary, 1, environment=environment) as fixture:
            async def step(seconds):
                pathlib.Path(offset).write_text(str(seconds))
                date = (await call(fixture.port, "GET", "/health/live"))[1]["date"]
                shown = email.utils.parsedate_to_datetime(date).timestamp()
                if abs(shown - time.time() - seconds) > 3600:
                    raise ValueError(f"the clock was not set: {date}")

            async def steps(_relay):
                for seconds in (86_400, -86_400, 0):
                    await step(seconds)
            return await fixture.follow(0, steps)


SCENARIOS = [cut_after_every_line, connections_that_break, restarted_server, restarted_server_with_its_sessions,
             slow_name_lookup, wrong_data, readers_that_misbehave, signals_under_load, logs_that_cannot_be_written,
             few_descriptors, connections_that_the_system_refuses, clock_steps]


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--thorough", action="store_true", help="more repetitions of everything")
    parser.add_argument("--only", help="the name of one scenario")
    options = parser.parse_args()
    failed = False
    for scenario in SCENARIOS:
        if options.only not in (None, scenario.__name__):
            continue
        try:
            found = await asyncio.wait_for(scenario(options.binary, options.thorough), 180)
        except Exception as error:  # Any other end of a scenario is a finding too.
            found = [f"ended with {error!r}"]
        print("FAIL" if found else "ok  ", scenario.__name__, *found[:5], sep="\n     " if found else " ", flush=True)
        failed |= bool(found)
    sys.exit(failed)


asyncio.run(main())
