"""The processes of a cluster: the engine, the demo server and the gateways."""

import asyncio
import hashlib
import os
import random
import signal
import socket
import sys
import time
import urllib.request

KEY = "lsg_cluster-test"
AUTHORIZATION = f"Authorization: Bearer {KEY}\r\n"
STREAMS = [
    "upstream=demo&mode=RAW&dataAdapter=RAW_FEED&items=raw1,raw2&fields=number,time",
    "upstream=demo&mode=RAW&dataAdapter=RAW_FEED&items=raw3&fields=number,time",
]
# How long processes may take to start before the run is given up.
STARTING = 120.0


def free_port():
    """A port below those that outgoing connections get: one of them could take the port of a process that is down."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as limits:
        first = int(limits.read().split()[0])
    while True:
        port = random.SystemRandom().randrange(10_000, max(10_001, first))
        with socket.socket() as listening:
            try:
                listening.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


async def until(condition, limit, what):
    """Waits until a condition holds."""
    deadline = time.monotonic() + limit
    while not await asyncio.to_thread(condition):
        if time.monotonic() > deadline:
            sys.exit(f"{what} within {limit:.0f} s")
        await asyncio.sleep(0.1)


class Cluster:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.engine_port = free_port()
        self.demo_port = free_port()
        self.ports = [free_port() for _ in range(options.members)]
        self.processes = {}
        self.is_disturbed = False
        self.faults = 0

    async def start(self, name, *command):
        log = open(os.path.join(self.folder, name + ".log"), "ab")
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
        self.processes[name] = process
        return process

    async def start_engine(self):
        store = os.path.join(self.folder, "store")
        await self.start(
            "engine", "nats-server", "-js", "-sd", store, "-a", "127.0.0.1", "-p", str(self.engine_port)
        )

    async def start_member(self, index):
        settings = {
            "cluster.engine": "nats",
            "cluster.url": f"nats://127.0.0.1:{self.engine_port}",
            "cluster.secret": "0123456789abcdef0123456789abcdef",
            "streams.retry": "0.2",
            "auth.keys.test.hash": "sha256:" + hashlib.sha256(KEY.encode()).hexdigest(),
            "auth.keys.test.maxSubscriptions": "1000000",
        }
        flags = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        await self.start(
            f"member{index}", self.options.gateway, "serve", "--port", str(self.ports[index]),
            "--upstream", f"demo=http://127.0.0.1:{self.demo_port},DEMO", *flags,
        )

    async def start_all(self):
        await self.start_engine()
        await self.start(
            "demo", self.options.gateway, "demo-server", "--port", str(self.demo_port), "--faults", "--seed", "7"
        )
        await until(lambda: self.census() is not None, STARTING, "the demo server does not answer")
        await until(lambda: self.accepts(self.engine_port), STARTING, "the engine does not accept connections")
        for index in range(self.options.members):
            await self.start_member(index)
        for port in self.ports:
            await until(lambda: self.get(port, "/health/ready") is not None, STARTING, f"port {port} is not ready")

    async def fault(self, kind):
        self.is_disturbed = True
        if kind == "engine":
            self.processes["engine"].kill()
            await self.processes["engine"].wait()
            await asyncio.sleep(random.uniform(0.1, 2))
            await self.start_engine()
        else:
            index = random.randrange(self.options.members)
            process = self.processes[f"member{index}"]
            if kind == "pause":
                process.send_signal(signal.SIGSTOP)
                await asyncio.sleep(random.uniform(0.5, 5))
                process.send_signal(signal.SIGCONT)
            else:
                process.kill()
                await process.wait()
                await asyncio.sleep(random.uniform(0.2, 1.5))
                await self.start_member(index)
        self.is_disturbed = False
        self.faults += 1

    def stop(self):
        for process in self.processes.values():
            if process.returncode is None:
                process.kill()

    def ended(self):
        """The processes that ended by themselves."""
        return [name for name, process in self.processes.items() if process.returncode not in (None, -signal.SIGKILL)]

    @staticmethod
    def accepts(port):
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", port)) == 0

    @staticmethod
    def get(port, path):
        """The body of a successful answer; None without one."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return None

    def census(self):
        """The subscriptions of sessions with a connection: others are kept for a recovery, and cost the server nothing."""
        text = self.get(self.demo_port, "/demo/census")
        return text and int(dict(line.split() for line in text.splitlines())["bound-subscriptions"])
