"""REST reads on 64 kept-alive connections: CPU of the gateway per request beside a fixed response of libmicrohttpd"""

import json
import urllib.request

from processes import LOAD_CORE, build, build_gateway, gateway, server
from results import interleaved, median, ratio, table

CONNECTIONS = 64
SUBSCRIPTION = {
    "upstream": "bench",
    "mode": "MERGE",
    "items": [f"item{number}" for number in range(1, 31)],
    "fields": ["stock_name", "last_price", "time", "pct_change", "bid_quantity", "ask_quantity"],
    "requestedSnapshot": "yes",
}

# The values of a feed are read by requests that join its subscription, which the first of them opens.
FEED = ["feeds.quotes.items=item{1…30}", "feeds.quotes.fields.last_price=number"]


def create(running, subscription):
    """Makes a subscription, and waits until the server confirms it; its id."""
    root = f"http://127.0.0.1:{running.port}"
    body = json.dumps(subscription).encode()
    head = {"Content-Type": "application/json", "Prefer": "wait=10"}
    with urllib.request.urlopen(urllib.request.Request(root + "/v1/subscriptions", body, head)) as response:
        return json.load(response)["id"]


def subscribe(running):
    """Creates the subscription, waits for its snapshot, and returns the path of its values."""
    root = f"http://127.0.0.1:{running.port}"
    values = f"/v1/subscriptions/{create(running, SUBSCRIPTION)}/values"
    path = f"{values}/item30/last_price"
    tag = None
    while True:
        head = {"Prefer": "wait=10", **({"If-None-Match": tag} if tag else {})}
        with urllib.request.urlopen(urllib.request.Request(root + path, headers=head)) as response:
            tag = response.headers["ETag"]
            if json.load(response)["value"] is not None:
                return values


def run(options):
    """Measures all requests in turn, on one gateway."""
    build("BareResponder", "DemoSource", "LoadGenerator")
    build_gateway()
    with (
        server("BareResponder") as bare,
        server("DemoSource", core=LOAD_CORE, rate=1) as source,
        gateway(f"http://127.0.0.1:{source.port}", *FEED) as running,
    ):
        values = subscribe(running)

        def measure(contender, path, **more):
            return lambda: contender.load(requests=CONNECTIONS, path=path, seconds=options.seconds, **more)

        contenders = {
            "libmicrohttpd, a fixed response": measure(bare, "/"),
            "/health/live": measure(running, "/health/live"),
            "…/values/item1/last_price": measure(running, f"{values}/item1/last_price"),
            "…/values/item1/last_price, as text": measure(running, f"{values}/item1/last_price", accept="text/plain"),
            "/feeds/quotes/item1/last_price": measure(running, "/feeds/quotes/item1/last_price"),
            "…/values, not modified": measure(running, values, if_none_match="*"),
            "…/values, 30 items": measure(running, values),
        }
        results = interleaved(options.runs, contenders)
    base = next(iter(results.values()))
    rows = []
    found = {}
    for name, runs in results.items():
        found[name] = ratio(runs, base, "cost")
        rows.append([name, f"{median(runs, 'cost'):.1f}", f"{found[name]:.2f}", f"{median(runs, 'rate'):,.0f}"])
    table(["request", "µs of CPU", "CPU", "requests/s"], rows)
    return found
