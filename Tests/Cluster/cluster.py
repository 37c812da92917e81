"""The processes of a cluster: the engine, the demo server and the gateways, with the relays between them."""

import asyncio
import hashlib
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from engine import Disk, program
from harness import free_port
from relay import Relay

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEY = "lsg_cluster-test"
AUTHORIZATION = f"Authorization: Bearer {KEY}\r\n"
# Its callers may have this number of subscriptions together.
LIMITED_KEY = "lsg_cluster-limited"
LIMIT = 4
STREAMS = [
    "upstream=demo&mode=RAW&dataAdapter=RAW_FEED&items=raw1,raw2&fields=number,time",
    "upstream=demo&mode=RAW&dataAdapter=RAW_FEED&items=raw3&fields=number,time",
]
# How long processes may take to start, or to end after SIGTERM, before the run is given up.
STARTING = 120.0
ENDING = 60.0
# How long the election of another leader may take.
ELECTION = 30.0
# The size of the file system that `engine-full` fills.
DISK = 64 << 20


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
        self.engines = [f"engine{index}" for index in range(options.engines)]
        self.engine_ports = [free_port() for _ in self.engines]
        self.route_ports = [free_port() for _ in self.engines]
        self.monitor_ports = [free_port() for _ in self.engines]
        self.demo_port = free_port()
        # One more for the member that joins under load.
        self.member_ports = [free_port() for _ in range(options.members + 1)]
        # Those that readers and callers connect to.
        self.ports = self.member_ports[:-1]
        # Relays by member: to the servers of the engine, and to the upstream. Empty if no fault needs them.
        self.engine_relays, self.upstream_relays = {}, {}
        # Relays by pairs of servers of the engine, from the first one to the second one. Empty if no fault divides them.
        self.route_relays = {}
        self.clocks = None
        self.processes = {}
        # The programs of the members: of this version, or of another one while an upgrade is under way.
        self.programs = [options.gateway] * len(self.member_ports)
        self.program = program(options.engine_version)
        # The disks of the engine's servers; empty if their power does not fail.
        self.disks = []
        # How long the log had no leader, after each loss of one.
        self.leaderless = []
        # How long members took from the start of their process until they were ready, under load.
        self.joins = []
        # Processes that a fault has ended or is ending.
        self.expected = set()
        self.is_disturbed = False
        self.faults = {}
        # Counts the beginnings and ends of faults by which the log loses its content.
        self.losses = 0
        # Odd while the wall clock of a member is wrong.
        self.clock_steps = 0
        self.started = time.monotonic()

    def note(self, text):
        with open(os.path.join(self.folder, "faults.log"), "a") as log:
            print(f"{time.strftime('%H:%M:%S')} {time.monotonic() - self.started:8.2f} {text}", file=log)

    async def start(self, name, *command, environment=None):
        with open(os.path.join(self.folder, name + ".log"), "ab") as log:
            process = await asyncio.create_subprocess_exec(
                *command, stdout=log, stderr=log, env={**os.environ, **(environment or {})}
            )
        self.processes[name] = process
        self.expected.discard(name)
        return process

    async def end(self, name, how=signal.SIGKILL):
        """Ends a process and waits for its end."""
        self.expected.add(name)
        process = self.processes[name]
        process.send_signal(how)
        try:
            await asyncio.wait_for(process.wait(), ENDING)
        except asyncio.TimeoutError:
            sys.exit(f"{name} does not end within {ENDING:.0f} s")

    # Engine

    def store(self, index=0):
        return os.path.join(self.folder, f"store{index}")

    async def start_engine(self, index=0):
        flags = ["-js", "-sd", self.store(index)]
        if self.options.sync:
            settings = os.path.join(self.folder, f"engine{index}.conf")
            with open(settings, "w") as file:
                file.write(f'jetstream {{ store_dir: "{self.store(index)}", sync_interval: {self.options.sync} }}\n')
            flags = ["-c", settings]
        if len(self.engines) > 1:
            others = [other for other in range(len(self.engines)) if other != index]
            relays = [self.route_relays[index, other].port for other in others] if self.route_relays else []
            ports = relays or [self.route_ports[other] for other in others]
            routes = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
            flags += [
                "-n", self.engines[index], "--cluster_name", "test", "--routes", routes,
                "--cluster", f"nats://127.0.0.1:{self.route_ports[index]}",
            ]
            if relays:
                # The others connect through the relays alone.
                flags += ["--cluster_advertise", "127.0.0.1:1", "--no_advertise"]
        await self.start(
            self.engines[index], self.program, "-a", "127.0.0.1", "-p", str(self.engine_ports[index]),
            "-m", str(self.monitor_ports[index]), *flags,
        )

    async def fail_power(self, index):
        """Ends a server of the engine, with only that on its disk which was written there."""
        name = self.engines[index]
        self.processes[name].send_signal(signal.SIGSTOP)
        await asyncio.to_thread(self.disks[index].freeze)
        await self.end(name)
        await asyncio.to_thread(self.disks[index].restore)

    async def await_leader(self, former):
        """Measures how long the log has no leader after the loss of one."""
        if len(self.engines) == 1 or former is None:
            return
        lost = time.monotonic()
        while await asyncio.to_thread(self.leader) in (None, former):
            # The former leader may lead again.
            if time.monotonic() - lost > ELECTION:
                return
            await asyncio.sleep(0.05)
        self.leaderless.append(time.monotonic() - lost)

    def leader(self):
        """The index of the engine's server that leads the log; None if there is none."""
        for index, port in enumerate(self.monitor_ports):
            if self.processes[self.engines[index]].returncode is not None:
                continue
            text = self.get(port, "/jsz?accounts=true&streams=true")
            for account in json.loads(text or "{}").get("account_details", []):
                for stream in account.get("stream_detail", []):
                    name = stream.get("cluster", {}).get("leader")
                    if name in self.engines:
                        return self.engines.index(name)
        return None

    def log_figure(self, name):
        """A figure of the log: `bytes`, or `last_seq`, the position of the newest frame."""
        text = self.get(self.monitor_ports[0], "/jsz?accounts=true&streams=true")
        accounts = json.loads(text or "{}").get("account_details", [])
        return max((stream["state"][name] for account in accounts for stream in account.get("stream_detail", [])), default=0)

    def has_log(self):
        """Whether the server of the engine has JetStream: it disables it when it cannot write."""
        answer = json.loads(self.get(self.monitor_ports[0], "/jsz") or "{}")
        return "config" in answer and not answer.get("disabled")

    # Members

    async def start_member(self, index):
        urls = [f"nats://127.0.0.1:{port}" for port in self.engine_ports]
        upstream, environment = self.demo_port, {}
        if index in self.engine_relays:
            urls = [f"nats://127.0.0.1:{relay.port}" for relay in self.engine_relays[index]]
            upstream = self.upstream_relays[index].port
        if self.clocks is not None:
            environment = {"LD_PRELOAD": self.clocks, "CLOCK_OFFSET_FILE": self.clock(index)}
        settings = {
            "cluster.engine": "nats",
            "cluster.url": ",".join(urls),
            "cluster.secret": "0123456789abcdef0123456789abcdef",
            "cluster.copies": str(len(self.engines)),
            "cluster.windowBytes": str(self.options.window),
            "cluster.window": str(self.options.seconds),
            "streams.retry": "0.2",
            "auth.keys.test.hash": "sha256:" + hashlib.sha256(KEY.encode()).hexdigest(),
            "auth.keys.test.maxSubscriptions": "1000000",
            "auth.keys.limited.hash": "sha256:" + hashlib.sha256(LIMITED_KEY.encode()).hexdigest(),
            "auth.keys.limited.maxSubscriptions": str(LIMIT),
        }
        if self.options.on_engine_loss == "local":
            settings |= {"cluster.onEngineLoss": "local", "cluster.patience": "2"}
        if self.options.sessions:
            settings["upstreams.demo.maxSessions"] = str(self.options.sessions)
        flags = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        await self.start(
            f"member{index}", self.programs[index], "serve", "--port", str(self.member_ports[index]),
            "--upstream", f"demo=http://127.0.0.1:{upstream},DEMO", *flags, environment=environment,
        )

    async def is_ready(self, index, limit=STARTING):
        port = self.member_ports[index]
        await until(lambda: self.get(port, "/health/ready") is not None, limit, f"member{index} is not ready")

    async def join(self, index):
        """Starts a member, and measures when it is ready."""
        began = time.monotonic()
        await self.start_member(index)
        await self.is_ready(index)
        self.joins.append(time.monotonic() - began)

    def divergences(self):
        """How many divergences of the log the members have found."""
        texts = [self.get(port, "/metrics") or "" for port in self.ports]
        return sum(int(found) for text in texts for found in re.findall(r"cluster_log_divergences_total (\d+)", text))

    async def start_relays(self):
        """Puts a relay between each member and each of its peers."""
        for index in range(len(self.member_ports)):
            self.engine_relays[index] = [Relay(free_port(), port) for port in self.engine_ports]
            self.upstream_relays[index] = Relay(free_port(), self.demo_port)
            for relay in [*self.engine_relays[index], self.upstream_relays[index]]:
                await relay.start()

    async def start_route_relays(self):
        """Puts a relay between each server of the engine and each of the others."""
        for pair in itertools.permutations(range(len(self.engines)), 2):
            self.route_relays[pair] = Relay(free_port(), self.route_ports[pair[1]])
            await self.route_relays[pair].start()

    # Clocks

    def clock(self, index):
        return os.path.join(self.folder, f"clock{index}")

    def step_clock(self, index, seconds):
        """Sets how many seconds the wall clock of a member is ahead."""
        self.clock_steps += 1
        path = self.clock(index)
        with open(path + ".new", "w") as file:
            file.write(str(seconds))
        os.replace(path + ".new", path)

    def build_clocks(self):
        """Compiles the library that shifts the wall clock of a process."""
        self.clocks = os.path.join(self.folder, "clock.so")
        source = os.path.join(ROOT, "Tests/Soak/clock.c")
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", self.clocks, source], check=True)

    # All

    def mount(self, faults):
        """Mounts the file systems of the engine that the faults need."""
        if "power" in faults:
            for index in range(len(self.engines)):
                self.disks.append(Disk(self.store(index), os.path.join(self.folder, f"disk{index}"), DISK))
        elif "engine-full" in faults:
            os.mkdir(self.store())
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", self.store()], check=True)

    async def start_all(self, has_relays, has_clocks):
        if has_clocks:
            self.build_clocks()
        self.mount(self.options.faults)
        if "divide" in self.options.faults:
            await self.start_route_relays()
        for index in range(len(self.engines)):
            await self.start_engine(index)
        await self.start(
            "demo", self.options.gateway, "demo-server", "--port", str(self.demo_port), "--faults", "--seed", "7"
        )
        await until(lambda: self.census() is not None, STARTING, "the demo server does not answer")
        for port in self.engine_ports:
            await until(lambda: self.accepts(port), STARTING, "the engine does not accept connections")
        if has_relays:
            await self.start_relays()
        for index in range(self.options.members):
            await self.start_member(index)
        for index in range(self.options.members):
            await self.is_ready(index)

    async def stop(self):
        for process in self.processes.values():
            if process.returncode is None:
                process.kill()
        await asyncio.gather(*(process.wait() for process in self.processes.values()))
        for index in range(len(self.engines)):
            if os.path.ismount(self.store(index)):
                subprocess.run(["umount", "--lazy", self.store(index)], check=True)

    def ended(self):
        """The processes that ended by themselves, or with an error after SIGTERM."""
        return [
            name for name, process in self.processes.items()
            if process.returncode is not None
            and (name not in self.expected or name.startswith("member") and process.returncode not in (0, -signal.SIGKILL))
        ]

    @staticmethod
    def accepts(port):
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", port)) == 0

    @staticmethod
    def get(port, path):
        """The body of a successful answer; None without one."""
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {KEY}"})
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return None

    def census(self, name="bound-subscriptions"):
        """The subscriptions of sessions with a connection, or the sessions: others are kept for a recovery, and cost the
        server nothing."""
        text = self.get(self.demo_port, "/demo/census")
        return text and int(dict(line.split() for line in text.splitlines())[name])
