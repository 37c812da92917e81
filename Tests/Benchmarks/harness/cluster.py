"""three gateways on one engine: CPU and latency beside a single gateway, failover, readers of a killed replica"""

import contextlib
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Cluster"))

from engine import program
from processes import LOAD_CORE, build, build_gateway, gateway, pinned, server, stop
from results import interleaved, median, ratio, table

NAMES = ["cost", "events", "sync", "failover", "herd"]
MEMBERS = 3
CASES = [(1000, 20), (1000, 1000)]
EVENT_RATES = [20, 1000, 5000]
# Of the part with the engine that writes each append to its disk, which NATS does from 2.10 on.
SYNC_RATES = [20, 1000]
SYNC_VERSION = "2.15.1"
KILLS = 20
HERDS = [1000, 10_000]
# How long a member may take to serve, a stream to go on after a kill, and a herd to be back.
PATIENCE = 60
QUERY = urllib.parse.urlencode(
    {"upstream": "bench", "mode": "MERGE", "items": "item1", "fields": "last_price,at", "dataAdapter": "BENCH"}
)
PATH = f"/v1/stream?{QUERY}"


def wait_for(condition, what):
    """Waits until a condition holds, and returns its value."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise SystemExit(f"{what} within {PATIENCE} s")
        time.sleep(0.02)
    return value


@contextlib.contextmanager
def engine(version=None, sync=None):
    """NATS with JetStream on the core of the load, which has the rest of its time to spare."""
    folder = tempfile.mkdtemp()
    ports = os.path.join(folder, "ports")
    os.mkdir(ports)
    settings = os.path.join(folder, "settings")
    with open(settings, "w", encoding="ascii") as file:
        interval = f", sync_interval: {sync}" if sync else ""
        file.write(f'jetstream {{ store_dir: "{folder}"{interval} }}')
    command = [program(version), "-c", settings, "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", ports]
    process = subprocess.Popen(pinned(LOAD_CORE, *command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        name = os.path.join(ports, f"nats-server_{process.pid}.ports")
        wait_for(lambda: os.path.exists(name) and os.path.getsize(name), "the engine does not start")
        with open(name, encoding="ascii") as file:
            yield json.load(file)["nats"][0], process.pid
    finally:
        stop(process)
        shutil.rmtree(folder)


def get(running, path):
    """The JSON of a response; None without a successful one."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{running.port}{path}", timeout=5) as answer:
            return json.load(answer)
    except OSError:
        return None


def member(stack, upstream, address):
    """Starts a member and waits until it serves."""
    settings = [
        "cluster.engine=nats", f"cluster.url={address}", "cluster.secret=0123456789abcdef",
        "http.maxConnections=20000", "streams.max=20000",
    ]
    running = stack.enter_context(gateway(upstream, *settings))
    wait_for(lambda: ((get(running, "/health") or {}).get("cluster") or {}).get("serving"), "a member does not serve")
    return running


@contextlib.contextmanager
def cluster(rate, **settings):
    """The members, the one with the upstream subscription first, a function that starts one, and the engine's process."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(server("DemoSource", core=LOAD_CORE, rate=rate))
        address, pid = stack.enter_context(engine(**settings))
        upstream = f"http://127.0.0.1:{source.port}"
        members = [member(stack, upstream, address) for _ in range(MEMBERS)]
        # A stream that stays open on each member, so that all of them follow the subscription.
        links = [stack.enter_context(contextlib.closing(Link(running.port))) for running in members]
        for link in links:
            link.read_events()
        yield owner_first(members), lambda: member(stack, upstream, address), pid


def owner_first(members):
    """The members in another order: the owner of the subscription first."""
    def find():
        for running in members:
            about = (get(running, "/health") or {}).get("cluster")
            if not about:
                continue
            own = [entry for entry in about["members"] if entry["id"] == about["member"]]
            if own and own[0]["subscriptions"] > 0:
                return running
        return None

    owner = wait_for(find, "no member owns the subscription")
    return [owner, *(running for running in members if running is not owner)]


class Link:
    """A stream that is read by this script."""

    def __init__(self, port, last_id=None):
        self.last_id = last_id
        self.outcome = None
        self.buffer = b""
        self.socket = socket.create_connection(("127.0.0.1", port))
        head = "Host: 127.0.0.1\r\nAccept: text/event-stream\r\n"
        if last_id:
            head += f"Last-Event-ID: {last_id}\r\n"
        self.socket.sendall(f"GET {PATH} HTTP/1.0\r\n{head}\r\n".encode())

    def close(self):
        self.socket.close()

    def read_some(self):
        """Reads what has arrived; false at the end of the stream."""
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError:
            data = b""
        self.buffer += data
        place = self.buffer.rfind(b"\nid: ")
        end = self.buffer.find(b"\n", place + 1)
        if place >= 0 and end >= 0:
            self.last_id = self.buffer[place + 5:end].decode()
        if self.outcome is None and (place := self.buffer.find(b'"resume":"')) >= 0:
            self.outcome = self.buffer[place + 10:self.buffer.find(b'"', place + 10)].decode()
        return bool(data)

    def read_events(self, count=1):
        """Reads until some updates have arrived; returns the times of their arrival."""
        self.socket.settimeout(PATIENCE)
        times = []
        while len(times) < count:
            if not self.read_some():
                raise SystemExit("a stream ended")
            times += [time.monotonic()] * self.buffer.count(b"event: update")
            self.buffer = self.buffer[-16:] if b"event: update" not in self.buffer[-16:] else b""
        return times


def processor_time(pid):
    """The processor time of a process, in seconds."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def run(options):
    """Measures all of it."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    build("LoadGenerator", "DemoSource")
    build_gateway()
    found = {}
    for name, part in zip(NAMES, [cost, events, sync, failover, herd]):
        if options.only in name:
            found[name] = part(options)
            print(flush=True)
    return found


def cost(options):
    """Streams of a single gateway, of the owner and of another member."""
    rows, found = [], {}
    for streams, rate in CASES:
        def alone():
            with server("DemoSource", core=LOAD_CORE, rate=rate) as source:
                with gateway(f"http://127.0.0.1:{source.port}") as running:
                    return running.load(streams=streams, seconds=options.seconds, path=PATH)

        def clustered(index):
            with cluster(rate) as (members, _, _):
                return members[index].load(streams=streams, seconds=options.seconds, path=PATH)

        contenders = {
            "single gateway": alone, "owner": lambda: clustered(0), "other replica": lambda: clustered(1),
        }
        results = interleaved(options.runs, contenders)
        base = results["single gateway"]
        for name, runs in results.items():
            found[streams, rate, name] = ratio(runs, base, "cost")
            latencies = [median(runs, figure) for figure in ("p50", "p99")]
            added = [latency - median(base, figure) for latency, figure in zip(latencies, ("p50", "p99"))]
            rows.append([
                f"{streams:,} × {rate:,}/s", name, f"{median(runs, 'rate'):,.0f}", f"{median(runs, 'cost'):.2f}",
                f"{found[streams, rate, name]:.2f}", *(f"{latency:.2f}" for latency in latencies),
                *(f"{time:+.2f}" for time in added),
            ])
    heads = ["streams", "of", "deliveries/s", "µs/delivery", "CPU", "p50, ms", "p99, ms", "p50 adds, ms", "p99 adds, ms"]
    table(heads, rows)
    return found


def events(options):
    """The processor time of each process for an event, with one stream on each member."""
    rows, found = [], {}
    for rate in EVENT_RATES:
        def measure():
            with cluster(rate) as (members, _, engine_pid):
                pids = {"engine": engine_pid, "owner": members[0].pid, "replica": members[1].pid}
                before = {name: processor_time(pid) for name, pid in pids.items()}
                position = get(members[0], "/health")["cluster"]["position"]
                found = members[2].load(streams=1, seconds=options.seconds, path=PATH)
                frames = get(members[0], "/health")["cluster"]["position"] - position
                used = {name: processor_time(pid) - before[name] for name, pid in pids.items()}
                # The load generator measures a part of this time only: events by the frames' share of it.
                elapsed = options.seconds + 1
                count = found["rate"] * elapsed
                return {**{name: value / count * 1e6 for name, value in used.items()}, "frame": count / max(1, frames),
                        "rate": found["rate"]}

        runs = interleaved(options.runs, {"": measure})[""]
        found[rate] = {name: median(runs, name) for name in ("engine", "owner", "replica", "frame", "rate")}
        rows.append([
            f"{rate:,}/s", f"{found[rate]['rate']:,.0f}",
            *(f"{found[rate][name]:.1f}" for name in ("frame", "engine", "owner", "replica")),
        ])
    table(["feed", "events/s", "events a frame", "engine, µs/event", "owner, µs/event", "other replica, µs/event"], rows)
    return found


def sync(options):
    """What an engine costs that writes each append to its disk, beside one that does so every two minutes."""
    rows, found = [], {}
    for rate in SYNC_RATES:
        def measure(interval):
            with cluster(rate, version=SYNC_VERSION, sync=interval) as (members, _, engine_pid):
                before = processor_time(engine_pid)
                result = members[2].load(streams=1, seconds=options.seconds, path=PATH)
                result["engine"] = (processor_time(engine_pid) - before) / (result["rate"] * (options.seconds + 1)) * 1e6
                return result

        results = interleaved(options.runs, {name: lambda name=name: measure(name) for name in ("2m", "always")})
        base = results["2m"]
        for name, runs in results.items():
            found[rate, name] = {figure: median(runs, figure) for figure in ("rate", "engine", "p50", "p99")}
            rows.append([
                f"{rate:,}/s", name, f"{found[rate, name]['rate']:,.0f}", f"{found[rate, name]['engine']:.1f}",
                f"{ratio(runs, base, 'engine'):.2f}", *(f"{found[rate, name][figure]:.2f}" for figure in ("p50", "p99")),
            ])
    table(["feed", "sync_interval", "events/s", "engine, µs/event", "ratio", "p50, ms", "p99, ms"], rows)
    return found


def failover(options):
    """The time without events of a stream of another member when the owner is killed."""
    del options
    times = []
    with cluster(20) as (members, start, _):
        for _ in range(KILLS):
            with contextlib.closing(Link(members[1].port)) as link:
                link.read_events(5)
                killed = time.monotonic()
                os.kill(members[0].pid, signal.SIGKILL)
                before = killed
                # Events that were under way arrive first.
                while (now := link.read_events()[0]) - before < 0.5:
                    before = now
                times.append(now - killed)
            members = owner_first([*members[1:], start()])
    table(["kills", "median, s", "longest, s"], [[str(KILLS), f"{statistics.median(times):.2f}", f"{max(times):.2f}"]])
    return {"median": statistics.median(times), "longest": max(times)}


def herd(options):
    """Readers of one member that is killed, and resume on the others at once; beside as many that open a stream first."""
    del options
    rows, found = [], {}
    for count in HERDS:
        with cluster(1) as (members, _, _):
            opened = time.monotonic()
            links = [Link(members[1].port) for _ in range(count)]
            opening = gather(links, opened)
            started = time.monotonic()
            os.kill(members[1].pid, signal.SIGKILL)
            others = [members[0], members[2]]
            before = sum(processor_time(running.pid) for running in others)
            back = []
            for index, link in enumerate(links):
                link.close()
                back.append(Link(others[index % 2].port, link.last_id))
            resuming = gather(back, started)
            used = sum(processor_time(running.pid) for running in others) - before
            resumed = sum(link.outcome == "resumed" for link in back)
            for link in back:
                link.close()
        for name, times in (("opened first", opening), ("resumed", resuming)):
            quantiles = statistics.quantiles(times, n=100)
            rows.append([
                f"{count:,}", name, f"{resumed:,}" if name == "resumed" else "",
                f"{statistics.median(times):.2f}", f"{quantiles[98]:.2f}", f"{max(times):.2f}",
                f"{used / count * 1e6:.0f}" if name == "resumed" else "",
            ])
        found[count] = {"resumed": resumed, "longest": max(resuming)}
    table(["readers", "", "resumed", "median, s", "p99, s", "all, s", "µs of CPU of the members"], rows)
    return found


def gather(links, started):
    """Reads until each stream has begun and has had an id; the times since the start."""
    times, waiting = [], len(links)
    deadline = time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as selector:
        for link in links:
            link.socket.setblocking(False)
            selector.register(link.socket, selectors.EVENT_READ, link)
        while waiting:
            if time.monotonic() > deadline:
                raise SystemExit(f"{waiting} streams have not begun within {PATIENCE} s")
            for key, _ in selector.select(1):
                link = key.data
                if not link.read_some():
                    raise SystemExit("a stream ended")
                if link.outcome is not None and link.last_id is not None:
                    selector.unregister(link.socket)
                    waiting -= 1
                    times.append(time.monotonic() - started)
    return times
