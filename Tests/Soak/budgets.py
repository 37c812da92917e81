"""The budget test of Tests/Soak/budgets: 1,000 readers of which 300 never read, a large table, and a bad upstream.

The first fifth of the time is the control: the same readers without the bad upstream. The test fails if a budget of
`/health` is exceeded at two samples in a row, if the memory of the gateway grows in the last half, or if the 99th percentile
of the delay of the good upstream's updates is more than twice that of the control.
"""

import argparse
import asyncio
import contextlib
import json
import pathlib
import sys
import time

from harness import Process, call, end, free_port, opened

HERE = pathlib.Path(__file__).resolve().parent
CLOCK = "/v1/stream?upstream=good&mode=MERGE&items=clock{item}&fields=sent"
TABLE = "/v1/stream?upstream=table&mode=MERGE&itemGroup=rows&fields=a,b"
DIFFS = "/v1/stream?upstream=bad&mode=MERGE&items=large{item}&fields=value&conflate=true"
ITEMS = 100
UNREAD_CLOCKS, UNREAD_TABLES, READ_TABLES = 200, 100, 20
SAMPLES = 30
MEMORY_TOLERANCE = 1.15
MEMORY_SLACK_KIB = 16 * 1024
# Delays below this are noise of the machine, in seconds.
LEAST_DELAY = 0.005


class Delays:
    """The seconds from the sending of updates to their arrival, in the control and under load."""

    def __init__(self):
        self.control, self.load = [], []
        self.current = self.control

    @staticmethod
    def percentile(values, share):
        return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


async def unread(port, path):
    """Opens a stream and reads its head only; opens another one when the gateway closes it."""
    while True:
        with contextlib.suppress(OSError):
            async with opened(port, path, receive_buffer=4096) as reader:
                await reader.readuntil(b"\r\n\r\n")
                reader._transport.pause_reading()
                while not reader.at_eof():
                    await asyncio.sleep(5)
        await asyncio.sleep(5)


async def read(port, path):
    """Reads a stream for as long as it lasts and drops what it reads."""
    while True:
        with contextlib.suppress(OSError):
            async with opened(port, path) as reader:
                while await reader.read(1 << 16):
                    pass
        await asyncio.sleep(1)


async def measured(port, path, delays):
    """Reads the clock of the good upstream and notes how late it is."""
    while True:
        with contextlib.suppress(OSError):
            async with opened(port, path) as reader:
                while line := await reader.readline():
                    if line.startswith(b"data: ") and b'"sent":"' in line and b'"snapshot":false' in line:
                        delays.current.append(time.time() - float(json.loads(line[6:])["fields"]["sent"]))
        await asyncio.sleep(1)


async def excess(port):
    """The names of budgets that are exceeded, and the used bytes of all of them."""
    _, _, body = await call(port, "GET", "/health")
    memory = json.loads(body)["memory"]
    return [name for name, budget in memory.items() if budget["used"] > budget["limit"]], \
        {name: budget["used"] for name, budget in memory.items()}


async def probe(url):
    """Prints a summary of the delays of the good upstream, measured in a process of its own: the argument is the port."""
    delays = Delays()
    tasks = [asyncio.create_task(measured(int(url), CLOCK.format(item=item), delays)) for item in range(1, 11)]
    while line := await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline):
        values, delays.current = delays.current, []
        print(json.dumps([len(values), Delays.percentile(values, 0.5), Delays.percentile(values, 0.99),
                          max(values, default=0)]), flush=True)
        if line == "end\n":
            break
    await end(tasks)


class Probe:
    """The process that measures delays."""

    async def start(self, port):
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, __file__, "--probe", str(port), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)

    async def take(self, word="next"):
        """The number, median, 99th percentile and maximum of the delays since the last call, in seconds."""
        self.process.stdin.write(f"{word}\n".encode())
        return json.loads(await self.process.stdout.readline())


async def start_upstream(kind):
    process = Process(sys.executable, str(HERE / "upstream.py"), str(free_port()), kind)
    return process, await process.start()


async def main(options):
    servers, arguments = [], []
    for name, kind in (("good", "clock"), ("table", "table"), ("bad", "diffs")):
        server, url = await start_upstream(kind)
        servers.append(server)
        arguments += ["--upstream", f"{name}={url}"]
    gateway = Process(options.binary, "serve", "--port", "0", *arguments, "--set", "http.maxConnectionsPerAddress=3000",
                      "--set", f"streams.memory={options.memory}")
    port = int((await gateway.start()).rsplit(":", 1)[1])
    probe_process = Probe()
    await probe_process.start(port)

    tasks = [read(port, CLOCK.format(item=number % ITEMS + 1)) for number in range(700 - READ_TABLES)]
    tasks += [unread(port, CLOCK.format(item=number % ITEMS + 1)) for number in range(UNREAD_CLOCKS)]
    tasks += [read(port, TABLE) for _ in range(READ_TABLES)]
    tasks += [unread(port, TABLE) for _ in range(UNREAD_TABLES)]
    running = [asyncio.create_task(task) for task in tasks]
    findings, sizes, control, load, exceeded = [], [], [], [], []

    print("  time s   RSS KiB  descriptors  threads   streams KiB  responses KiB   updates   p50 ms   p99 ms   max ms", flush=True)
    started = time.monotonic()
    for sample in range(SAMPLES):
        await asyncio.sleep(max(0, started + options.minutes * 60 * (sample + 1) / SAMPLES - time.monotonic()))
        resources = gateway.resources()
        before, (exceeded, used) = exceeded, await excess(port)
        findings += [f"the budget {name} is exceeded" for name in exceeded if name in before]
        count, *times = await probe_process.take()
        is_control = sample < SAMPLES // 5
        if sample > 0:
            (control if is_control else load).append(times[1])
        sizes.append(resources[0])
        print(f"{time.monotonic() - started:8.0f}  {resources[0]:8}  {resources[1]:11}  {resources[2]:7}"
              f"  {used['streams'] // 1024:12}  {used['responses'] // 1024:13}  {count:8}"
              + "".join(f"  {value * 1000:7.1f}" for value in times)
              + ("   control" if is_control else ""), flush=True)
        if count == 0:
            findings.append("no update of the good upstream arrived")
        if sample == SAMPLES // 5 - 1:
            running += [asyncio.create_task(read(port, DIFFS.format(item=item))) for item in range(2)]

    for error in await end(running):
        findings.append(f"a reader failed: {error!r}")
    before, after = Delays.percentile(control, 0.5), Delays.percentile(load, 0.5)
    print(f"99th percentile of the delay, median of the samples: {before * 1000:.1f} ms in the control, {after * 1000:.1f} ms"
          f" beside the bad upstream: {after / max(before, LEAST_DELAY):.2f} times")
    if after > 2 * max(before, LEAST_DELAY):
        findings.append("the bad upstream delays the good one")
    middle, final = max(sizes[SAMPLES // 3:SAMPLES * 2 // 3]), max(sizes[-SAMPLES // 4:])
    if final > middle * MEMORY_TOLERANCE + MEMORY_SLACK_KIB:
        findings.append(f"memory grew from {middle} to {final} KiB")
    await probe_process.take("end")
    await asyncio.sleep(30)
    print(f"{gateway.resources()[0]} KiB 30 s after all readers left")
    await gateway.stop()
    if gateway.process.returncode != 0:
        findings.append(f"SIGTERM ended the gateway with status {gateway.process.returncode}")
    for server in servers:
        await server.stop()
    for finding in findings[:20]:
        print("FAIL", finding)
    sys.exit(1 if findings else 0)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--minutes", type=float, default=5)
parser.add_argument("--binary")
parser.add_argument("--memory", type=int, default=64 << 20, help="streams.memory, in bytes")
parser.add_argument("--probe", help=argparse.SUPPRESS)
arguments = parser.parse_args()
asyncio.run(probe(arguments.probe) if arguments.probe else main(arguments))
