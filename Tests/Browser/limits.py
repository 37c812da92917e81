"""The requests of a page that can have no stream: at most three a minute, whatever the page does meanwhile.

    python limits.py .build/debug/lightstreamer-gateway [--minutes 2.5] [--speed 20]

The clock of the page that waits runs `speed` times as fast as that of the gateway; with `--speed 1` the minutes are real ones. Ends 0
once every check holds; prints the first that does not, and ends 1.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import gateway
from browser import browsing
from module import blank, expect, watch
from module_rules import STATE, Torrent
from pages import MODULE, Server, other_origin

MOST = 3
BUSY_PAGE = """(() => {
    const now = Date.now, timer = setTimeout, start = now(), speed = %d;
    Date.now = () => start + (now() - start) * speed;
    window.setTimeout = (work, delay, ...values) => timer(work, (delay ?? 0) / speed, ...values);
    window.minutes = () => (Date.now() - start) / 60_000;
    window.requests = () => performance.getEntriesByType("resource").filter(({ name }) => name.includes("/v1/"))
        .map(({ startTime }) => startTime * speed);
    // Components come and go, the network seems to return, the page is hidden and shown.
    setInterval(() => {
        const fields = ["bid", "ask", "min", "max"][Math.floor(now() / 300) %% 4];
        window.component?.close();
        window.component = gateway.subscribe({ upstream: "demo", mode: "MERGE", items: ["item3"], fields: [fields] });
        dispatchEvent(new Event("online"));
        document.dispatchEvent(new Event("visibilitychange"));
    }, 300);
})()"""


def busiest_minute(times):
    return max(sum(start <= time < start + 60_000 for time in times) for start in times)


def waits(page, minutes):
    """The times of the requests of a page in a number of its minutes, in its milliseconds."""
    while page.see("minutes()") < minutes:
        time.sleep(0.5)
    return page.see("requests()")


def holders(browser, address, options):
    pages = [blank(browser, address) for _ in range(MOST)]
    for page in pages:
        watch(page, address, options=options)
        page.wait("handle.state.state === 'open'")
    return pages


def a_page_beside_the_streams_of_a_gateway_is_polite(binary, minutes, speed):
    """Three streams are open, as many as the gateway may have."""
    a_page_without_a_stream_is_polite(binary, minutes, speed, "the gateway", ["--set", f"streams.max={MOST}"], "reconnecting")


def a_page_beside_the_streams_of_its_key_is_polite(binary, minutes, speed):
    """The code stream-limit is final: only the user of the key can close one of its streams."""
    words = subprocess.run([binary, "key"], capture_output=True, text=True, check=True).stdout.split()
    key, digest = words[1], words[3]
    settings = ["--auth", "keys", "--set", f"auth.keys.page.hash={digest}", "--set", f"auth.keys.page.streams={MOST}"]
    a_page_without_a_stream_is_polite(binary, minutes, speed, "a key", settings, "refused", key)


def a_page_without_a_stream_is_polite(binary, minutes, speed, whose, settings, state, key=None):
    options = f'{{ share: "page", token: () => "{key}" }}' if key else '{ share: "page" }'
    with gateway.demo(binary, *settings) as (address, _), browsing() as browser:
        pages = holders(browser, address, options)
        last = blank(browser, address)
        last.see(BUSY_PAGE % speed)
        watch(last, address, options=options)
        times = waits(last, minutes)
        print(f"limits: {len(times)} requests in {minutes:g} minutes beside {MOST} streams of at most {MOST} of {whose}, "
              f"{busiest_minute(times)} in the busiest one; the clock ran {speed} times as fast")
        expect(busiest_minute(times) <= MOST, f"requests at {times}")
        expect((len(times) == 1) == (state == "refused"), f"requests at {times}")
        expect(last.see("handle.state.state") == state, f"the page says {last.see('handle.state')}")
        pages[0].close()
        if state == "refused":
            last.again(lambda: len(gateway.streams(address, key)) < MOST, "one stream less", bool)
            last.see("gateway.retry()")
        last.wait("handle.state.state === 'open' && handle.rows.size === 2")


class Closing(Torrent):
    """A gateway that closes each stream because of its limit."""

    def do_POST(self):
        sources = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["sources"]
        self.answer(201, {"id": "stream", "sources": [{**STATE, "subscription": str(number)} for number in range(len(sources))]})

    def do_GET(self):
        if self.path.endswith("/codes.json"):
            return self.answer(200, json.loads((MODULE.parent / "codes.json").read_text()))
        if not self.path.endswith("/events"):
            return self.answer(404, {})
        body = b'retry: 5000\nevent: closing\ndata: {"reason":"stream-limit"}\n\n'
        self.send_response(200)
        for name, value in (("Content-Type", "text/event-stream"), ("Content-Length", len(body)), ("Access-Control-Allow-Origin", "*")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def a_refusal_of_the_stream_is_final(binary, minutes, speed):
    """Also for subscriptions that come later: another attempt would have the same outcome, until the user demands it."""
    with Server(("127.0.0.1", 0), Closing) as server, other_origin() as origin, browsing() as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = blank(browser, origin, "/none")
        page.see(BUSY_PAGE % speed)
        watch(page, f"http://127.0.0.1:{server.server_port}", options='{ share: "page" }', module=f"{origin}/gateway.js")
        page.wait("handle.state.state === 'refused'")
        times = waits(page, minutes)
        expect(len(times) == 2, f"requests at {times}")
        expect(page.wait("handle.state.problem.code === 'stream-limit' && component.state.problem?.cure?.length > 20"),
               f"the page says {page.see('[handle.state, component.state]')}")
        page.see("gateway.retry()")
        page.again(lambda: page.see("requests().length") == 4, "another attempt", bool)
        page.wait("handle.state.state === 'refused'")
        server.shutdown()
    print(f"limits: 2 requests in {minutes:g} minutes after a stream was closed because of a limit")


CHECKS = [
    a_page_beside_the_streams_of_a_gateway_is_polite, a_page_beside_the_streams_of_its_key_is_polite, a_refusal_of_the_stream_is_final,
]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--minutes", type=float, default=2.5)
    parser.add_argument("--speed", type=int, default=20)
    arguments = parser.parse_args()
    try:
        # The pages wait at the same time.
        with ThreadPoolExecutor(len(CHECKS)) as pool:
            list(pool.map(lambda check: gateway.run([check], arguments.binary, arguments.minutes, arguments.speed), CHECKS))
    except Exception as problem:
        sys.exit(f"limits: {problem}")
