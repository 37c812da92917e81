"""a stream that joins a table of 20,000 rows, alone and beside others: CPU of the server until the last row, beside a response with as many bytes; time, and memory of joined streams"""

import socket
import time

from ingest import cpu
from processes import build, server
from results import interleaved, median, ratio, table

ROWS, JOINS = 20_000, 20
LAST = f'"item{ROWS}"'.encode()


def read(running, path, is_complete):
    """The open connection of a request, and the bytes of its response until it is complete."""
    connection = socket.create_connection(("127.0.0.1", running.port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    count, last = 0, b""
    while not is_complete(count, last):
        more = connection.recv(1 << 20)
        if not more:
            raise SystemExit("the response ended early")
        count += len(more)
        last = last[-len(LAST):] + more
    return connection, count


def memory(pid):
    """The resident memory of a process, in bytes."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def measure(running, path, is_complete, stays=True):
    """The figures of a join, the mean of several: streams that stay, or of which each leaves before the next one joins."""
    connections, count = [], 0
    before, memory_before, start = cpu(running.pid), memory(running.pid), time.monotonic()
    for _ in range(JOINS):
        connection, count = read(running, path, is_complete)
        if stays:
            connections.append(connection)
        else:
            connection.close()
    seconds = (time.monotonic() - start) / JOINS
    cost = (cpu(running.pid) - before) / JOINS
    held = (memory(running.pid) - memory_before) / JOINS
    for connection in connections:
        connection.close()
    return {"cost": cost, "bytes": count, "time": seconds, "memory": held}


def run(options):
    """Measures both on one server."""
    build("HubServer")
    with server("HubServer", rate=0, items=ROWS, topics=2, filled=1) as running:
        # The first topic has a reader all the time.
        connection, size = read(running, "/stream/0", lambda count, last: LAST in last)
        contenders = {
            "response": lambda: measure(running, f"/bytes/{size}", lambda count, last: count >= size),
            "stream": lambda: measure(running, "/stream/0", lambda count, last: LAST in last),
            "only stream": lambda: measure(running, "/stream/1", lambda count, last: LAST in last, stays=False),
        }
        results = interleaved(options.runs, contenders)
        connection.close()
    rows = []
    for name, runs in results.items():
        cells = [f"{median(runs, 'cost') * 1e3:.1f}", f"{ratio(runs, results['response'], 'cost'):.2f}"]
        cells += [f"{median(runs, 'bytes') / 1e6:.2f}", f"{median(runs, 'time') * 1e3:.1f}", f"{median(runs, 'memory') / 1024:.0f}"]
        rows.append([name, *cells])
    table(["20,000 rows", "ms of CPU", "CPU", "MB", "ms", "KiB held"], rows)
    found = {figure: median(results["stream"], figure) for figure in ("bytes", "time", "memory")}
    return {**found, "cost": ratio(results["stream"], results["response"], "cost")}
