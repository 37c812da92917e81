"""10,000 requests that wait for one value, which changes once a second; CPU of the gateway for a response, with the next request, beside one event for as many streams, and beside one response of libmicrohttpd to all"""

import urllib.parse

from processes import LOAD_CORE, build, build_gateway, gateway, server
from results import interleaved, median, ratio, table
from rest import create

CASES = [1000, 10_000]
SOURCE = {"upstream": "bench", "mode": "MERGE", "items": ["item1"], "fields": ["last_price", "at"], "dataAdapter": "BENCH"}


def run(options):
    """Measures streams and long polls of the same item, on one gateway."""
    build("BareResponder", "DemoSource", "LoadGenerator")
    build_gateway()
    stream = urllib.parse.urlencode({**SOURCE, "items": "item1", "fields": "last_price,at"})
    rows = []
    found = {}
    with (
        server("BareResponder", interval=1) as bare,
        server("DemoSource", core=LOAD_CORE, rate=1) as source,
        gateway(f"http://127.0.0.1:{source.port}", "http.maxConnections=20000") as running,
    ):
        value = f"/v1/subscriptions/{create(running, SOURCE)}/values/item1/last_price"
        seconds = max(options.seconds, 3)
        for count in CASES:
            poll = {"requests": count, "long_poll": 1, "warm_up": 3, "seconds": seconds, "path": value}
            contenders = {
                "event of a stream": lambda: running.load(streams=count, seconds=seconds, path=f"/v1/stream?{stream}"),
                "long poll of libmicrohttpd": lambda: bare.load(**poll),
                "long poll": lambda: running.load(**poll),
            }
            results = interleaved(options.runs, contenders)
            base = results["event of a stream"]
            for name, runs in results.items():
                cost = ratio(runs, base, "cost")
                rows.append([f"{count:,}", name, f"{median(runs, 'cost'):.1f}", f"{cost:.2f}", f"{median(runs, 'rate'):,.0f}"])
            found[count] = ratio(results["long poll"], base, "cost")
    table(["waiting", "kind", "µs of CPU", "CPU", "a second"], rows)
    return found
