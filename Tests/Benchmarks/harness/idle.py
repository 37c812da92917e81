"""idle streams; memory of the server for each, in KiB, beside `bare` and nchan"""

from processes import build, has_nchan, nchan, server
from results import interleaved, table

CASES = [1000, 5000, 10000]


def run(options):
    """Measures all numbers of streams, with short request heads and with those of a browser."""
    del options
    build("BareSender", "HubServer", "LoadGenerator")
    servers = {"bare": lambda: server("BareSender", rate=1), "gateway": lambda: server("HubServer", rate=0)}
    if has_nchan():
        servers["nchan"] = nchan
    else:
        print("nchan is left out: libnginx-mod-nchan is not installed\n")
    rows = []
    found = {}
    for browser in (0, 1):
        for streams in CASES:

            def measure(make, streams=streams, browser=browser):
                with make() as running:
                    found = running.load(
                        streams=streams, browser_headers=browser, path="/stream/0", warm_up=1, seconds=0.5
                    )
                    return (found["memory"] - found["memoryBefore"]) / streams

            results = interleaved(1, {name: (lambda make=make: measure(make)) for name, make in servers.items()})
            found[streams, browser] = {name: runs[0] for name, runs in results.items()}
            head = "a browser's" if browser else "short"
            rows.append([f"{streams:,}", head, *(f"{runs[0]:.1f}" for runs in results.values())])
    table(["streams", "request head", *servers], rows)
    return found
