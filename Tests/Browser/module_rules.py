"""Rules of the module for browsers that take time or numbers: delays of many pages, throughput, what it keeps, cookies, feeds.

    python module_rules.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import http.server
import json
import os
import subprocess
import threading
import time

import gateway
from browser import browsing
from module import QUOTES, ROOT, blank, expect, watch, words
from pages import Server, other_origin

LONGEST_FRAME = 50

# MARK: - Delays, on a clock of their own

DELAYS = """(async () => {
    const { Backoff } = await import("/source/backoff.js");
    let seed = 7;
    const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
    const pages = (count, away) => Array.from({ length: count }, () => {
        const backoff = Object.assign(new Backoff(), { random });
        backoff.retry = 2000 + 2000 * random();
        backoff.healthy();
        const times = [];
        let now = 0;
        do times.push(now += backoff.delay()); while (now < away);
        return { times, retry: backoff.retry };
    });
    const busiest = (pages, window) => {
        const counts = new Map();
        for (const { times } of pages) {
            const slot = Math.floor(times.at(-1) / window);
            counts.set(slot, (counts.get(slot) ?? 0) + 1);
        }
        return Math.max(...counts.values());
    };
    const quick = pages(10_000, 0), slow = pages(10_000, 60_000);
    const limited = Object.assign(new Backoff(), { random }), attempts = [];
    for (let now = 0; now < 3_600_000; now += limited.delay({ status: 503, after: 5 })) attempts.push(now);
    return {
        early: [...quick, ...slow].filter(({ times, retry }) => times[0] < retry).length,
        quick: busiest(quick, 100), slow: busiest(slow, 1000), last: Math.max(...slow.map(({ times }) => times.at(-1))),
        attempts: Math.max(...slow.map(({ times }) => times.length)),
        minute: Math.max(...attempts.map((start) => attempts.filter((time) => time >= start && time < start + 60_000).length)),
    };
})()"""


def ten_thousand_pages_return_spread(binary):
    """After a restart, and after a minute without a gateway; and a page that is answered 503 for an hour."""
    with other_origin() as origin, browsing() as browser:
        found = blank(browser, origin, "/none").see(DELAYS)
    print(f"module: of 10,000 pages at most {found['quick']} return within 100 ms after a restart, {found['slow']} within 1 s after "
          f"60 s without a gateway; 503 causes {found['minute']} requests a minute")
    expect(found["early"] == 0, f"{found['early']} pages return before the time that the gateway gave them")
    expect(found["quick"] < 800, "the pages return together after a restart")
    expect(found["slow"] < 1000 and found["attempts"] < 12, f"the pages return together: {found}")
    expect(found["minute"] <= 3, f"{found['minute']} requests a minute")


# MARK: - Throughput


class Torrent(http.server.BaseHTTPRequestHandler):
    """
    A gateway whose only stream has 100,000 updates a second, for `seconds`. The values have 12 characters, since V8 keeps a table of
    shorter ones: that of 300,000 different values, unlike that of prices which repeat, takes up to 60 ms to grow.
    """

    seconds = 3
    rate = 100_000
    pause = 0.02
    items = 1000

    def do_POST(self):
        self.answer(201, {"id": "stream", "sources": [STATE]})

    def do_GET(self):
        if not self.path.endswith("/events"):
            return self.answer(404, {})
        self.send_response(200)
        for name, value in (("Content-Type", "text/event-stream"), ("Access-Control-Allow-Origin", "*")):
            self.send_header(name, value)
        self.end_headers()
        begin = json.dumps({"stream": "stream", "sources": [STATE], "resume": "fresh"})
        self.wfile.write(f"event: stream\ndata: {begin}\n\n".encode())
        serial = 0
        start = time.monotonic()
        for step in range(round(self.seconds / self.pause)):
            events = []
            for _ in range(round(self.rate * self.pause)):
                serial += 1
                item = serial % self.items
                events.append(f'event: update\nid: e-{serial}\ndata: {{"subscription":"s","item":"i{item}","itemPos":{item},'
                              f'"snapshot":false,"fields":{{"n":"{serial:012}"}}}}\n\n')
            self.wfile.write("".join(events).encode())
            time.sleep(max(0.0, start + step * self.pause - time.monotonic()))
        self.wfile.flush()
        time.sleep(10)

    do_DELETE = do_GET

    def do_OPTIONS(self):
        self.send_response(204)
        for name in ("Origin", "Headers", "Methods"):
            self.send_header(f"Access-Control-Allow-{name}", "*")
        self.end_headers()

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (("Content-Type", "application/json"), ("Content-Length", len(body)), ("Access-Control-Allow-Origin", "*")):
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


STATE = {"subscription": "s", "client": "c", "status": "CONNECTED:WS-STREAMING", "active": True, "subscribed": True, "lastError": None}

FRAMES = """(() => {
    window.frames = [];
    let before = performance.now();
    requestAnimationFrame(function frame(now) { frames.push(now - before); before = now; requestAnimationFrame(frame); });
})()"""


def torrent(browser, origin, address, options):
    """Reads the torrent in a page: the processor times of the tasks of its main thread, its frames, and the time that it took."""
    total = Torrent.seconds * Torrent.rate
    page = blank(browser, origin, "/none")
    page.see(FRAMES)
    # The threads of this renderer: the browser's own trace tells how long each task used the processor, which other work of the
    # machine does not change.
    browser.control.call("Tracing.start", transferMode="ReportEvents", traceConfig={"includedCategories": ["toplevel", "__metadata"]})
    watch(page, address, '{ upstream: "u", mode: "MERGE", items: ["many"], fields: ["n"] }', options, module=f"{origin}/gateway.js")
    page.see("""document.title = "torrent"; window.newest = 0; window.began = 0;
        void (handle.on.update = ({ fields }) => { newest = Number(fields.n); began ||= performance.now(); })""")
    page.wait(f"newest === {total}")
    took = page.see("performance.now() - began") / 1000
    frames = page.see("frames")
    expect(page.see(f"handle.rows.size === {Torrent.items} && Math.min(...[...handle.rows.values()].map(({{ n }}) => Number(n)))"
                    f" === {total - Torrent.items + 1}"), "the table differs")
    page.close()
    return busiest_thread(trace(browser.control)), frames, took


def trace(control):
    """Ends a trace; its events."""
    control.call("Tracing.end")
    events = []
    while True:
        message = json.loads(control.socket.recv(timeout=60))
        if message.get("method") == "Tracing.dataCollected":
            events += message["params"]["value"]
        if message.get("method") == "Tracing.tracingComplete":
            return events


def busiest_thread(events):
    """The processor times of the tasks of the main thread of the renderer that worked most, in milliseconds."""
    mains = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"}
    tasks = {}
    for event in events:
        if event["name"] == "ThreadControllerImpl::RunTask" and (event["pid"], event["tid"]) in mains and "tdur" in event:
            tasks.setdefault((event["pid"], event["tid"]), []).append(event["tdur"] / 1000)
    return max(tasks.values(), key=sum)


def a_torrent_arrives_whole(binary):
    """
    Whether a SharedWorker reads the stream or the page itself. The processor time of each task of the page is measured: a frame waits
    for one task at most. That tasks are short on any machine is checked by `module_pages.py`.
    """
    for where, options in (("a SharedWorker", "{}"), ("the page", '{ share: "page" }')):
        with Server(("127.0.0.1", 0), Torrent) as server, other_origin() as origin, browsing() as browser:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            tasks, frames, took = torrent(browser, origin, f"http://127.0.0.1:{server.server_port}", options)
            server.shutdown()
        print(f"module: {Torrent.seconds * Torrent.rate / took:,.0f} updates a second through one table, read by {where}: "
              f"{sum(tasks) / took / 10:.0f} % of the processor for the page, its longest task {max(tasks):.1f} ms; "
              f"{len([frame for frame in frames if frame > LONGEST_FRAME])} of {len(frames)} frames over {LONGEST_FRAME} ms "
              f"on this machine with a load of {os.getloadavg()[0]:.1f}")


# MARK: - What is kept

CYCLES = """(async () => {
    const specs = (number) => ({ upstream: "%s", mode: "MERGE", items: [`item${number %% 30 + 1}`], fields: ["last_price", ["bid", "ask"][number %% 2]] });
    for (let number = 0; number < %d; number += 1) {
        const handle = gateway.subscribe(specs(number), { update() {}, state() {} });
        if (number %% 100 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
        handle.close();
    }
})()"""


def heap(page):
    page.call("HeapProfiler.enable")
    for _ in range(3):
        page.call("HeapProfiler.collectGarbage")
    return page.call("Runtime.getHeapUsage")["usedSize"]


def nothing_is_left_of_closed_subscriptions(binary):
    """10,000 subscriptions come and go, of an upstream that exists and of one that does not; the page has its own hub."""
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        watch(page, address, options='{ share: "page" }')
        page.wait("handle.rows.size === 2")
        page.see(CYCLES % ("demo", 500))
        page.see(CYCLES % ("nope", 500))
        page.again(lambda: len(gateway.streams(address)[0]["sources"]) == 1, "one source", bool)
        time.sleep(1.5)
        before = heap(page)
        for upstream in ("demo", "nope"):
            page.see(CYCLES % (upstream, 10_000))
        page.again(lambda: len(gateway.streams(address)[0]["sources"]) == 1, "one source", bool)
        time.sleep(1.5)
        grown = heap(page) - before
        print(f"module: 20,000 subscriptions leave {grown / 1024:.0f} KiB")
        expect(grown < 400 << 10, f"{grown} bytes are left")
        # And where everything was refused, so that there is no stream.
        page.see("handle.close()")
        page.again(lambda: not gateway.streams(address), "no stream", bool)
        page.see(CYCLES % ("nope", 100))
        requests = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v1/')).length"
        time.sleep(3)
        sent = page.see(requests)
        time.sleep(3)
        expect(page.see(requests) == sent, f"{page.see(requests) - sent} requests for nothing")
        expect(not gateway.streams(address), "a stream for nothing")


def connections_that_were_closed_leave_nothing(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        cycle = """(async () => {
            const { connect } = await import("/assets/gateway.js");
            for (let number = 0; number < %d; number += 1) {
                const gateway = connect(location.origin, { share: "page" });
                gateway.close();
                if (number %% 50 === 0) await new Promise((resolve) => setTimeout(resolve));
            }
        })()"""
        page.see(cycle % 100)
        before = heap(page)
        page.see(cycle % 2000)
        time.sleep(1)
        grown = heap(page) - before
        expect(grown < 400 << 10, f"{grown} bytes are left of 2,000 connections")


# MARK: - States


def a_closed_gateway_says_so(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        watch(page, address)
        page.wait("handle.rows.size === 2")
        page.see("window.told = []; gateway.watch(({ state }) => told.push(state)); gateway.close()")
        page.see(f"window.late = gateway.subscribe({QUOTES})")
        expect(page.see("[gateway.state.state, told.at(-1), handle.state.state, late.state.state].join()") == "closed,closed,closed,closed",
               "not closed")


def a_token_that_cannot_be_had_is_no_refusal(binary):
    lines = subprocess.run([binary, "key"], capture_output=True, text=True, check=True).stdout.split()
    with gateway.demo(binary, "--auth", "keys", "--set", f"auth.keys.page.hash={lines[3]}") as (address, _), browsing() as browser:
        page = blank(browser, address)
        watch(page, address, options="""{ token: async () => {
            if ((window.asked = (window.asked ?? 0) + 1) < 4) throw new Error("the login is away");
            return "%s";
        } }""" % lines[1])
        page.wait("states.some(({ state, reason }) => state === 'reconnecting' && reason.includes('the login is away'))")
        page.wait("handle.state.state === 'open' && handle.rows.size === 2")
        expect("refused" not in words(page), f"states: {words(page)}")


def a_store_begins_empty_again(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        watch(page, address)
        page.see(f"window.store = gateway.store({QUOTES}); window.end = store.subscribe(() => {{}}); 0")
        page.wait("store.get().rows.size === 2 && store.get().state.state === 'open'")
        page.see("end()")
        expect(page.see("store.get().rows.size === 0 && store.get().state.state === 'connecting'"), "rows of a store without readers")
        page.see("window.seen = []; store.subscribe(({ state, rows }) => seen.push([state.state, rows.size].join())); 0")
        page.wait("seen.at(-1) === 'open,2'")
        expect(page.see("seen[0]") == "connecting,0", "the store begins with former rows")


# MARK: - Cookies and feeds


def a_cookie_is_enough(binary):
    """The example with a sign-in: from another origin of the same site, without the key in the page."""
    lines = subprocess.run([binary, "key"], capture_output=True, text=True, check=True).stdout.split()
    key, digest = lines[1], lines[3]
    with other_origin(ROOT / "Examples/browser") as origin, gateway.demo(
        binary, "--auth", "keys", "--set", f"auth.keys.page.hash={digest}", "--set", f"cors.origins={origin}"
    ) as (address, _), browsing() as browser:
        page = browser.tab(f"{origin}/session.html?gateway={address}")
        page.wait("document.getElementById('state')?.textContent === 'refused'")
        page.see(f"document.getElementById('key').value = '{key}'; document.querySelector('form button').click()")
        page.wait("document.getElementById('state').textContent === 'open' && document.querySelectorAll('tbody tr').length === 3")
        expect(page.see("document.cookie") == "", "a script can read the cookie")
        expect(page.see("document.getElementById('problem').textContent") == "", "a problem is shown")
        # A reload needs no key; a sign-out ends the data, and what follows a reload.
        page.call("Page.reload")
        page.wait("document.getElementById('state')?.textContent === 'open' && document.querySelectorAll('tbody tr').length === 3")
        page.see("document.getElementById('leave').click()")
        page.wait("document.getElementById('state').textContent === 'refused' && !document.querySelector('tbody tr')")
        page.call("Page.reload")
        page.wait("document.getElementById('state')?.textContent === 'refused'")


def feeds_need_no_upstream(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address, "/docs")
        watch(page, address, '{ feed: "quotes", mode: "MERGE", items: ["item1", "item2"] }')
        page.see("window.positions = gateway.subscribe({ feed: 'portfolio' }); 0")
        page.wait("handle.rows.size === 2 && handle.state.state === 'open' && positions.rows.size > 2")
        row = page.see("handle.rows.get('item1')")
        expect(row["stock_name"] and float(row["last_price"]) > 0 and len(row) == 13, f"row: {row}")
        expect(page.see("[...positions.rows.values()].every(({ qty }) => Number(qty) >= 0)"), "no quantities")
        expect(len(gateway.streams(address)) == 1, "more than one stream")
        page.see("window.none = gateway.subscribe({ feed: 'nothing', mode: 'MERGE' }); 0")
        page.wait("none.state.state === 'refused'")
        # Beside one without a feed, and as an element.
        page.see(f"window.plain = gateway.subscribe({QUOTES}); 0")
        page.wait("plain.rows.size === 2")
        page.see("""import("/assets/gateway-elements.js").then(() => {
            document.body.innerHTML = '<ls-value feed="quotes" item="item3" field="last_price"></ls-value><ls-table feed="portfolio"></ls-table>'; })""")
        page.wait("Number(document.querySelector('ls-value')?.shadowRoot.querySelector('span').textContent) > 0")
        table = "document.querySelector('ls-table').shadowRoot"
        page.wait(f"{table}.querySelectorAll('tbody tr').length > 2 && {table}.querySelector('th').textContent === 'key'")


FEEDS = """(async () => {
    const { connect } = await import("/assets/gateway.js");
    window.gateway = connect(location.origin, %s);
    window.kinds = [];
    const follow = (feed) => gateway.subscribe({ feed }, {
        snapshot(table) { kinds.push(`${feed} ${table.items ? "COMMAND" : Array.isArray(table.rows) ? "DISTINCT" : "MERGE"}`); },
    });
    window.handles = { portfolio: follow("portfolio"), chat: follow("chat") };
    // By the text of another one, and in small letters.
    window.twin = gateway.subscribe({ upstream: "demo", mode: "command", dataAdapter: "PORTFOLIO_ADAPTER", items: "portfolio1", fields: "key,command,qty" });
})()"""


def a_feed_tells_its_mode(binary):
    """Without `mode`, for the first tab, for one that joins, and after a hand-over from the tab that reads."""
    for options in ("{}", '{ share: "tabs" }', '{ share: "page" }'):
        with gateway.demo(binary) as (address, _), browsing() as browser:
            pages = [blank(browser, address) for _ in range(2)]
            right = """handles.portfolio.table.items?.size === 1 && handles.portfolio.rows.size > 2 && twin.table.items?.size === 1
                && Array.isArray(handles.chat.rows) && handles.chat.state.state === 'open'"""
            for page in pages:
                page.see(FEEDS % options)
                page.wait(right)
            pages[0].close()
            pages[1].see("window.late = gateway.subscribe({ feed: 'portfolio', items: 'portfolio1' }); 0")
            pages[1].wait(f"{right} && late.rows.size > 2 && late.table.items.size === 1")
            kinds = set(pages[1].see("kinds"))
            expect(kinds <= {"portfolio COMMAND", "chat DISTINCT"}, f"other tables: {kinds}")


CHECKS = [
    ten_thousand_pages_return_spread, a_torrent_arrives_whole, nothing_is_left_of_closed_subscriptions,
    connections_that_were_closed_leave_nothing, a_closed_gateway_says_so, a_token_that_cannot_be_had_is_no_refusal,
    a_store_begins_empty_again, a_cookie_is_enough, feeds_need_no_upstream, a_feed_tells_its_mode,
]


def main(binary):
    gateway.run(CHECKS, binary)
    print(f"module: {len(CHECKS)} checks of its rules")


if __name__ == "__main__":
    gateway.script("module", main)
