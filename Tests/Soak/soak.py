"""The soak test of Tests/Soak/run: repeated load, and a table of the resources that the gateway uses."""

import argparse
import asyncio
import contextlib
import json
import random
import sys
import time

from harness import Process, call, descriptors_at_rest, end, free_port, opened, read_events

CHURN_PER_SECOND = 50
STEADY_READERS = 40
SLOW_READERS = 10
SLOW_BYTES_PER_SECOND = 1024
RESTART_EVERY = 45.0
SAMPLES = 30
# A steady state may move by this much between the end of the warm-up and the end of the run.
MEMORY_TOLERANCE = 1.15
MEMORY_SLACK_KIB = 16 * 1024
DESCRIPTOR_SLACK = 8

STREAM = "/v1/stream?upstream=demo&mode=MERGE&items={items}&fields=last_price,time"
RAW_STREAM = "/v1/stream?upstream=demo&mode=MERGE&items=item30&fields=last_price,time,bid,ask&conflate=false"


class Counts:
    """The counts and findings so far."""

    def __init__(self):
        self.churned = self.calls = self.events = self.gaps = self.restarts = self.failures = 0
        self.findings = []

    def finding(self, text):
        if len(self.findings) < 20:
            self.findings.append(text)


async def churn(port, counts):
    """Opens a stream, reads its first update and closes it."""
    items = ",".join(f"item{number}" for number in random.sample(range(1, 31), random.randint(1, 4)))
    try:
        async with opened(port, STREAM.format(items=items)) as reader:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(read_events(reader, lambda name, *_: name == "update"), random.uniform(0.05, 2))
        counts.churned += 1
    except OSError:
        counts.failures += 1


async def churn_forever(port, counts):
    tasks = set()
    while True:
        task = asyncio.create_task(churn(port, counts))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(1 / CHURN_PER_SECOND)


async def steady_reader(port, counts, path):
    """Reads a stream for as long as it lasts and resumes it; event ids must rise within an epoch."""
    last = None
    while True:
        resumed_path = path + (f"&lastEventId={last}" if last else "")
        previous = last

        def on_event(name, identity, data):
            nonlocal last, previous
            if name == "stream":
                outcome = json.loads(data)["resume"]
                if outcome == "gap":
                    counts.gaps += 1
                if outcome != "resumed":
                    previous = None
            if identity:
                counts.events += 1
                epoch, sequence = identity.rsplit("-", 1)
                if previous:
                    old_epoch, old_sequence = previous.rsplit("-", 1)
                    # Events of one snapshot may share the id of the state that they describe.
                    if epoch == old_epoch and int(sequence) < int(old_sequence):
                        counts.finding(f"{path}: {identity} after {previous}")
                last = previous = identity
            return random.random() < 0.0005

        try:
            async with opened(port, resumed_path) as reader:
                await read_events(reader, on_event)
        except OSError:
            counts.failures += 1
        await asyncio.sleep(random.uniform(0, 0.5))


async def slow_reader(port, counts):
    """Reads a stream at a fixed low rate and opens it again when the gateway ends it."""
    while True:
        try:
            async with opened(port, RAW_STREAM, receive_buffer=4096) as reader:
                while await reader.read(SLOW_BYTES_PER_SECOND):
                    await asyncio.sleep(1)
        except OSError:
            counts.failures += 1
            await asyncio.sleep(1)


async def use_resources(port, counts):
    """Creates, reads and deletes subscriptions and clients."""
    quotes = {"mode": "MERGE", "items": ["item1"], "fields": ["last_price"]}
    while True:
        try:
            status, headers, _ = await call(port, "POST", "/v1/subscriptions", {"upstream": "demo", **quotes})
            if status == 201:
                place = headers["location"]
                await call(port, "GET", place + "/values")
                status, _, _ = await call(port, "DELETE", place)
                if status != 204:
                    counts.finding(f"DELETE {place} returned {status}")
            status, headers, _ = await call(port, "POST", "/v1/clients", {"upstream": "demo"})
            if status == 201:
                await call(port, "DELETE", headers["location"])
            counts.calls += 5
        except (OSError, IndexError, ValueError):
            counts.failures += 1
        await asyncio.sleep(0.2)


async def restart_upstream(demo, counts):
    """Stops and starts the upstream server on the same port, half of the time without closing its sessions."""
    while True:
        await asyncio.sleep(RESTART_EVERY)
        await demo.stop(kill=random.random() < 0.5)
        await asyncio.sleep(random.uniform(0, 3))
        await demo.start()
        counts.restarts += 1


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}", flush=True)

    demo_port = free_port()
    demo = Process(options.binary, "demo-server", "--port", str(demo_port))
    await demo.start()
    # A small replay window fills within the warm-up, so that later growth is growth.
    gateway = Process(options.binary, "serve", "--port", "0", "--upstream", f"demo=http://127.0.0.1:{demo_port},DEMO",
                      "--set", "streams.replayEvents=50")
    port = int((await gateway.start()).rsplit(":", 1)[1])
    descriptors_before = gateway.resources()[1]

    counts = Counts()
    tasks = [churn_forever(port, counts), use_resources(port, counts), restart_upstream(demo, counts)]
    for number in range(STEADY_READERS):
        tasks.append(steady_reader(port, counts, STREAM.format(items=f"item{number % 30 + 1}")))
    tasks += [slow_reader(port, counts) for _ in range(SLOW_READERS)]
    running = [asyncio.create_task(task) for task in tasks]

    print("  time s   RSS KiB  descriptors  threads    streams opened    events   calls  restarts  gaps", flush=True)
    started, samples = time.monotonic(), []
    for sample in range(SAMPLES):
        await asyncio.sleep(max(0, started + options.minutes * 60 * (sample + 1) / SAMPLES - time.monotonic()))
        if gateway.process.returncode is not None:
            counts.finding(f"the gateway ended with status {gateway.process.returncode}")
            break
        samples.append(gateway.resources())
        print(f"{time.monotonic() - started:8.0f}  {samples[-1][0]:8}  {samples[-1][1]:11}  {samples[-1][2]:7}"
              f"  {counts.churned:16}  {counts.events:8}  {counts.calls:6}  {counts.restarts:8}  {counts.gaps:4}", flush=True)

    for error in await end(running):
        counts.finding(f"a reader failed: {error!r}")

    if gateway.process.returncode is None and samples:
        warm = max(size for size, _, _ in samples[SAMPLES // 4:SAMPLES // 2])
        final = max(size for size, _, _ in samples[-SAMPLES // 4:])
        if final > warm * MEMORY_TOLERANCE + MEMORY_SLACK_KIB:
            counts.finding(f"memory grew from {warm} to {final} KiB")
        if len({threads for _, _, threads in samples[SAMPLES // 4:]}) > 3:
            counts.finding("the number of threads does not settle")
        rest = await descriptors_at_rest(gateway, descriptors_before + DESCRIPTOR_SLACK)
        if rest > descriptors_before + DESCRIPTOR_SLACK:
            counts.finding(f"descriptors: {descriptors_before} before, {rest} after")
        await gateway.stop()
        if gateway.process.returncode != 0:
            counts.finding(f"SIGTERM ended the gateway with status {gateway.process.returncode}")
    await demo.stop()

    print(f"{counts.failures} connections failed")
    for finding in counts.findings:
        print("FAIL", finding)
    sys.exit(1 if counts.findings else 0)


asyncio.run(main())
