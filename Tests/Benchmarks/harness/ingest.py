"""one TLCP session of 30 items to one stream: lines a second of CPU, from the socket to encoded events, beside the official Python client"""

import json
import os
import subprocess
import sys
import time
import urllib.parse

from processes import LOAD_CORE, SERVER_CORE, build, build_gateway, gateway, pinned, server
from results import interleaved, median, ratio, table

GATEWAY_LINES = 600_000
PYTHON_LINES = 15_000
ITEMS = ",".join(f"item{number}" for number in range(1, 31))
FIELDS = "name,last_price,time,pct_change,quantity,status"


def cpu(pid):
    """The CPU time that all threads of a process have used, in seconds."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def measure_gateway():
    """The gateway, with one stream; updates that its reader has not read yet are conflated."""
    with server("LineSender", core=LOAD_CORE, lines=GATEWAY_LINES) as source:
        upstream = f"http://127.0.0.1:{source.port}"
        with gateway(upstream, "upstreams.bench.options.forcedTransport=HTTP-STREAMING") as running:
            query = urllib.parse.urlencode({"upstream": "bench", "mode": "MERGE", "items": ITEMS, "fields": FIELDS})
            before = cpu(running.pid)
            start = time.monotonic()
            running.read_until(f"/v1/stream?{query}", b'"status":"end"')
            return figures(GATEWAY_LINES, cpu(running.pid) - before, time.monotonic() - start, source)


def measure_python():
    """The official client, which ignores the updates."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_client.py")
    with server("LineSender", core=LOAD_CORE, lines=PYTHON_LINES) as source:
        command = pinned(SERVER_CORE, python(), script, source.port)
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        found = json.loads(done.stdout)
        return figures(PYTHON_LINES, found["cpu"], found["wall"], source)


def figures(lines, seconds, wall, source):
    """The lines that a contender processed per second of CPU time."""
    size = int(source.notes["bytes"]) / int(source.notes["lines"])
    return {"lines": lines / seconds, "megabytes": lines * size / seconds / 1e6, "wall": lines / wall}


def python():
    """A Python that has the official client; None if there is none."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for candidate in (os.path.join(folder, "../../../.venv/bin/python"), sys.executable):
        if os.path.exists(candidate):
            probe = subprocess.run([candidate, "-c", "import lightstreamer.client"], capture_output=True, check=False)
            if probe.returncode == 0:
                return candidate
    return None


def run(options):
    """Measures both."""
    build("LineSender")
    build_gateway()
    contenders = {"gateway": measure_gateway}
    if python():
        contenders = {"Python client": measure_python, "gateway": measure_gateway}
    else:
        print("the Python client is left out: lightstreamer-client-lib is not installed (.ci/setup tests)\n")
    results = interleaved(options.runs, contenders)
    base = next(iter(results.values()))
    rows = []
    found = {"baseline": next(iter(results))}
    for name, runs in results.items():
        found[name] = {"ratio": ratio(runs, base, "lines"), "megabytes": median(runs, "megabytes")}
        row = [name, f"{median(runs, 'lines'):,.0f}", f"{median(runs, 'megabytes'):.1f}", f"{median(runs, 'wall'):,.0f}"]
        rows.append([*row, f"{ratio(runs, base, 'lines'):.1f}"])
    table(["client", "lines/CPU s", "MB/CPU s", "lines/s", "ratio"], rows)
    return found
