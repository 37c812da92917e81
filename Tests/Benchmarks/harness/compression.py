"""streams with gzip, one compressor for all of them: CPU of the server per delivered event beside the same streams without it, over TCP and TLS 1.3; bytes of an event of the demo server's quotes"""

import selectors
import socket
import time
import urllib.parse
import zlib

from processes import LOAD_CORE, build, build_gateway, gateway, server
from results import interleaved, median, ratio, table
from tls import certificate

# As many fields as give events of the size of the quotes.
STREAMS, RATE, FIELDS = 1000, 20, 11
QUOTES = urllib.parse.urlencode(
    {
        "upstream": "bench",
        "items": "item1,item2,item3",
        "fields": "stock_name,last_price,time,pct_change,bid_quantity,bid,ask,ask_quantity,min,max,ref_price,open_price",
        "dataAdapter": "QUOTE_ADAPTER",
    }
)


def events(response):
    """The number of live updates of a stream, and the bytes of its body without the framing of HTTP."""
    head, _, rest = response.partition(b"\r\n\r\n")
    body = b""
    while b"\r\n" in rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        body += rest[:length]
        rest = rest[length + 2:]
    if b"Content-Encoding: gzip" in head:
        body = zlib.decompressobj(31).decompress(body)
    return body.count(b'"snapshot":false')


def bytes_of_an_event(running, accepts, seconds):
    """Bytes that a stream receives for each event of the quotes, with the framing of HTTP, while 1,000 streams are open."""
    request = f"GET /v1/stream?{QUOTES} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: {accepts}\r\n\r\n".encode()
    streams = selectors.DefaultSelector()
    received = {}
    for _ in range(STREAMS):
        connection = socket.create_connection(("127.0.0.1", running.port))
        connection.sendall(request)
        streams.register(connection, selectors.EVENT_READ)
        received[connection] = []
    live = time.monotonic() + 2
    end = live + seconds
    counted = 0
    first = next(iter(received))
    before = 0
    while (now := time.monotonic()) < end:
        for key, _ in streams.select(end - now):
            part = key.fileobj.recv(1 << 20)
            if now >= live:
                counted += len(part)
            received[key.fileobj].append(part)
        if now < live:
            before = len(received[first])
    parts = received[first]
    live_events = events(b"".join(parts)) - events(b"".join(parts[:before]))
    for connection in received:
        connection.close()
    return counted / STREAMS / max(1, live_events)


def run(options):
    """Measures CPU and latency of the hub's events, and bytes of the gateway's."""
    build("DemoSource", "HubServer", "LoadGenerator")
    build_gateway()
    rows = []
    found = {}
    with certificate() as (chain, key):
        secure = {"certificate": chain, "key": key}
        for transport, tls, files in (("TCP", None, {}), ("TLS 1.3", 1, secure)):

            def measure(gzip, tls=tls, files=files):
                with server("HubServer", rate=RATE, fields=FIELDS, **files) as running:
                    return running.load(
                        streams=STREAMS, seconds=options.seconds, path="/stream/0", tls=tls, gzip=gzip
                    )

            results = interleaved(options.runs, {"plain": lambda: measure(None), "gzip": lambda: measure(1)})
            for name, runs in results.items():
                found[transport, name] = ratio(runs, results["plain"], "cost")
                figures = [f"{ratio(runs, results['plain'], figure):.2f}" for figure in ("cost", "p50", "p99")]
                delivered = median(runs, "rate") / (STREAMS * RATE)
                rows.append([transport, name, f"{delivered:.0%}", f"{median(runs, 'cost'):.1f}", *figures])
    table(["transport", "streams", "delivered", "µs of CPU", "CPU", "p50", "p99"], rows)
    print()
    with server("DemoSource", core=LOAD_CORE, rate=1) as source, gateway(f"http://127.0.0.1:{source.port}") as running:
        for name, accepts in (("plain", "identity"), ("gzip", "gzip")):
            found["bytes", name] = bytes_of_an_event(running, accepts, max(10, options.seconds))
    table(["quotes", "bytes an event"], [[name, f"{found['bytes', name]:.0f}"] for name in ("plain", "gzip")])
    return found
