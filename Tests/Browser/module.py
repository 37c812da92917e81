"""The module for browsers in headless Chromium: one connection for many tabs, states, politeness, hooks, elements.

    python module.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import gzip
import http.server
import json
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request

import gateway
from browser import browsing
from pages import MODULE, Server, other_origin

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MOST_BYTES = 10 << 10
REACT = [pathlib.Path("/usr/share/nodejs", path) for path in (
    "react/umd/react.production.min.js", "react-dom/umd/react-dom.production.min.js")]

QUOTES = '{ upstream: "demo", mode: "MERGE", items: ["item1", "item2"], fields: ["stock_name", "last_price"] }'
WATCH = """(async () => {
    const { connect } = await import("%(module)s");
    window.states = [];
    window.news = 0;
    window.gateway = connect("%(address)s", %(options)s);
    window.handle = gateway.subscribe(%(spec)s, { state: (state) => states.push(state), update: ({ snapshot }) => { news += !snapshot; } });
})()"""


def expect(condition, words):
    if not condition:
        raise RuntimeError(words)


def watch(page, address, spec=QUOTES, options="{}", module=None):
    module = module or f"{address}/assets/gateway.js"
    page.see(WATCH % {"module": module, "address": address, "spec": spec, "options": options})


def blank(browser, origin, path="/assets/gateway-hub.js"):
    """A page that does nothing by itself: of a gateway, a text with the content security policy of its pages, without elements."""
    page = browser.tab(origin + path)
    page.wait(f"location.pathname === '{path}' && document.readyState === 'complete'")
    return page


def open_streams(address):
    return [stream for stream in gateway.streams(address) if stream["open"]]


def words(page):
    return page.see("states.map(({ state }) => state)")


# MARK: - Size


def it_is_small(binary):
    sizes = {file.name: len(gzip.compress(file.read_bytes(), 9)) for file in sorted(MODULE.glob("*.js"))}
    core = sizes["gateway.js"] + sizes["gateway-hub.js"]
    print("module:", ", ".join(f"{name} {size:,} bytes" for name, size in sizes.items()), f"with gzip; the core {core:,}")
    expect(core <= MOST_BYTES, f"the core has more than {MOST_BYTES} bytes: {sizes}")
    expect((MODULE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes(), "another licence")


def it_can_be_packed(binary):
    if not shutil.which("npm"):
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", "--pack-destination", folder, MODULE], check=True, capture_output=True,
                       timeout=60, env={"PATH": "/usr/bin:/bin", "HOME": folder})
        archive, = pathlib.Path(folder).glob("*.tgz")
        listed = subprocess.run(["tar", "tzf", archive], check=True, capture_output=True, text=True).stdout.split()
    for name in ("gateway.js", "gateway-hub.js", "source/gateway.js", "gateway.d.ts", "package.json", "LICENSE", "README.md"):
        expect(f"package/{name}" in listed, f"{name} is not in the package: {listed}")


# MARK: - One connection


def twenty_tabs_use_one_connection(binary):
    """20 tabs with 50 subscriptions each; 5 items of each tab are its own, the others are shared."""
    with gateway.demo(binary, "--set", "upstreams.demo.maxSubscriptions=5000") as (address, _), browsing() as browser:
        pages = [blank(browser, address) for _ in range(20)]
        for number, page in enumerate(pages):
            page.see("""(async () => {
                const { connect } = await import("/assets/gateway.js");
                window.gateway = connect();
                window.handles = Array.from({ length: 50 }, (_, index) => gateway.subscribe({
                    upstream: "demo", mode: "MERGE", items: [`item${index %% 30 + 1}`],
                    fields: index < 45 ? ["last_price", ["bid", "ask", "time"][index %% 3]] : ["last_price", "min", `max`].slice(0, %d %% 3 + 1),
                }));
            })()""" % number)
        for page in pages:
            page.wait("handles.every(({ state, rows }) => state.state === 'open' && rows.size === 1)")
        expect(len(gateway.streams(address)) == 1, f"{len(gateway.streams(address))} streams")
        for page in pages:
            expect(page.see("fetch('/v1/upstreams').then(({ status }) => status)") == 200, "a fetch was not answered")
        expect(any(target["type"] == "shared_worker" for target in browser.targets()), "there is no SharedWorker")
        for page in pages:
            expect(page.complaints == [], f"the page complains: {page.complaints}")
        # All but one leave: what only they had is removed from the stream, which goes on.
        sources = len(gateway.streams(address)[0]["sources"])
        for page in pages[1:]:
            page.close()
        pages[0].again(lambda: len(gateway.streams(address)[0]["sources"]) < sources, "fewer sources", bool)
        expect(pages[0].see("handles.every(({ state }) => state.state === 'open')"), "the last tab does not go on")
        pages[0].close()
        browser.tab("about:blank")
        deadline = time.monotonic() + 20
        while open_streams(address) and time.monotonic() < deadline:
            time.sleep(0.1)
        expect(not open_streams(address), "the stream outlives its tabs")
    print("module: 20 tabs with 50 subscriptions each use 1 connection")


def the_death_of_the_leader_is_a_short_silence(binary):
    for options in ('{ share: "tabs" }', "{}"):
        with gateway.demo(binary) as (address, _), browsing() as browser:
            first, *others = [blank(browser, address) for _ in range(3)]
            spec = '{ upstream: "demo", mode: "MERGE", items: Array.from({ length: 30 }, (_, index) => `item${index + 1}`), fields: ["last_price"] }'
            for page in (first, *others):
                watch(page, address, spec, options)
                page.wait("handle.state.state === 'open'")
            for page in others:
                page.see("""window.silence = 0; window.at = performance.now(); window.count = 0; void (handle.on.update = () => {
                    silence = Math.max(silence, performance.now() - at); at = performance.now(); count += 1; })""")
                # Without an update after its snapshot, a tab begins with another snapshot.
                page.wait("handle.rows.size === 30 && count > 5")
            stream = gateway.streams(address)[0]["id"]
            first.kill()
            alive = []
            for page in others:
                try:
                    page.see("window.count = 0; void (handle.on.change = () => { count += 1; })")
                    page.wait("count > 5")
                    alive.append(page.see("silence"))
                except Exception:  # Its process was that of the first page.
                    continue
            expect(alive, "no page survived")
            print(f"module: {max(alive):.0f} ms of silence after the death of the leader, {options}")
            # A page that waits to reconnect, as after a failure, waits for two seconds at least.
            expect(max(alive) < 2000, f"{max(alive):.0f} ms of silence")
            expect([entry["id"] for entry in open_streams(address)] == [stream], "the stream was not continued")
            expect(all(state in ("connecting", "open") for state in words(others[-1])), f"states: {words(others[-1])}")


# MARK: - States


def a_refusal_is_final_and_explained(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        watch(page, address, QUOTES.replace("demo", "nope"))
        page.wait("states.at(-1)?.problem?.cure")
        expect(words(page) == ["connecting", "refused", "refused"], f"states: {words(page)}")
        expect(page.see("states.at(-1).problem.code") == "unknown-upstream", "another problem")
        # Others of the same batch are not concerned.
        page.see(f"""window.good = gateway.subscribe({QUOTES});
            window.bad = gateway.subscribe({{ upstream: "demo", mode: "MERGE", items: ["item1"], fields: [""] }});
            window.none = gateway.subscribe({{ upstream: "demo", mode: "MERGE", items: ["nothing"], fields: ["last_price"] }}); 0""")
        page.wait("good.state.state === 'open' && bad.state.state === 'refused' && none.state.state === 'refused'")
        expect(page.see("none.state.problem.cause") is not None, "the refusal of the server has no cause")


def a_wrong_key_is_asked_for_once_more(binary):
    words_of_key = subprocess.run([binary, "key"], capture_output=True, text=True, check=True).stdout.split()
    key, digest = words_of_key[1], words_of_key[3]
    with other_origin() as origin, gateway.demo(
        binary, "--auth", "keys", "--set", f"auth.keys.page.hash={digest}", "--set", f"cors.origins={origin}"
    ) as (address, _), browsing() as browser:
        page = blank(browser, origin, "/none")
        watch(page, address, options='{ token: (isRenewed) => { (window.asked ??= []).push(isRenewed); return "wrong"; } }')
        page.wait("handle.state.state === 'refused'")
        expect(page.see("asked.filter(Boolean).length") == 1, f"asked {page.see('asked')}")
        # A key that becomes valid at the second question; the page of another origin sends it as a header.
        page.see("gateway.close()")
        watch(page, address, options=f'{{ token: (isRenewed) => isRenewed ? "{key}" : "wrong" }}')
        page.wait("handle.state.state === 'open' && handle.rows.size === 2")
        streams = gateway.streams(address, key)
        request = urllib.request.Request(
            f"{address}/v1/streams/{streams[0]['id']}", method="DELETE", headers={"Authorization": f"Bearer {key}"})
        urllib.request.urlopen(request, timeout=10)
        page.wait("states.some(({ state }) => state === 'reconnecting')")
        page.wait("handle.state.state === 'open'")


class Refusing(http.server.BaseHTTPRequestHandler):
    """A gateway that can open no stream, or does not answer."""

    requests = []

    def do_POST(self):
        Refusing.requests.append(time.monotonic())
        body = json.dumps({"title": "Unavailable", "status": 503, "code": "unavailable"}).encode()
        self.send_response(503)
        for name, value in (("Content-Type", "application/problem+json"), ("Retry-After", "5"), ("Content-Length", len(body)),
                            ("Access-Control-Allow-Origin", "*"), ("Access-Control-Expose-Headers", "Retry-After")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_OPTIONS(self):
        self.send_response(204)
        for name in ("Origin", "Headers", "Methods"):
            self.send_header(f"Access-Control-Allow-{name}", "*")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def a_full_gateway_is_asked_rarely(binary):
    """Three requests a minute at most: the first two attempts are at least 20 seconds apart."""
    Refusing.requests.clear()
    with Server(("127.0.0.1", 0), Refusing) as server, other_origin() as origin, browsing() as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = blank(browser, origin, "/none")
        watch(page, f"http://127.0.0.1:{server.server_port}", module=f"{origin}/gateway.js")
        page.wait("handle.state.state === 'reconnecting'")
        expect(page.see("handle.state.nextAt - Date.now()") > 19_000, "the next attempt is too soon")
        expect(page.see("handle.state.problem.status") == 503, "the state does not tell the problem")
        expect(len(Refusing.requests) == 1, f"{len(Refusing.requests)} requests")
        server.shutdown()


def a_limit_of_streams_is_obeyed(binary):
    """Four pages without a common stream, where three are permitted: the fourth one waits and says so."""
    with gateway.demo(binary, "--set", "streams.max=3") as (address, _), browsing() as browser:
        pages = [blank(browser, address) for _ in range(4)]
        for page in pages:
            watch(page, address, options='{ share: "page" }')
            page.wait("states.some(({ state }) => state === 'open' || state === 'reconnecting' || state === 'refused')")
        last = pages[-1].see("handle.state")
        expect(last["state"] in ("reconnecting", "refused") and "streams" in json.dumps(last), f"the fourth page: {last}")
        sent = pages[-1].see("performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v1/')).length")
        expect(sent == 1, f"{sent} requests")


def silence_is_not_hidden(binary):
    """`waiting` with a sentence after two seconds while nobody answers, `reconnecting` when the gateway is gone."""
    with other_origin() as origin, browsing() as browser:
        page = blank(browser, origin, "/none")
        watch(page, f"{origin}/silent", module=f"{origin}/gateway.js")
        page.wait("handle.state.state === 'waiting'")
        expect("has not answered" in page.see("handle.state.reason"), "no sentence")
        page.see("gateway.close()")
        expect(words(page) == ["connecting", "waiting", "closed"], f"states: {words(page)}")


def a_lost_upstream_makes_values_stale(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        watch(page, address)
        # The time of a snapshot is not known.
        page.wait("handle.state.state === 'open' && handle.rows.size === 2 && news")
        server = gateway.get(f"{address}/v1/upstreams/demo")["serverAddress"]
        gateway.post(f"{server}/demo/faults", "stall ms=8000")
        # In one look, since the upstream may return before another one.
        state = page.wait("handle.state.state === 'stale' && handle.state")
        expect(state["since"] > 0 and state["reason"], f"no age, or no reason: {state}")
        page.wait("handle.state.state === 'open'")


# MARK: - Subscriptions


def subscriptions_change_and_end(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        watch(page, address)
        page.wait("handle.rows.size === 2")
        stream = gateway.streams(address)[0]["id"]
        page.see("""(() => {
            handle.change({ upstream: "demo", mode: "COMMAND", items: "portfolio1", fields: "key,command,qty", dataAdapter: "PORTFOLIO_ADAPTER" });
            window.received = [];
            (async () => { for await (const update of second) received.push(update); window.isOver = true; })();
        })(); 0""".replace("(() => {", f"window.second = gateway.subscribe({QUOTES}); (() => {{", 1))
        page.wait("handle.rows.size >= 3 && [...handle.rows.values()].every(({ qty }) => qty)")
        page.wait("received.length >= 4")
        page.see("second.close()")
        page.wait("isOver")
        page.again(lambda: len(gateway.streams(address)[0]["sources"]) == 1, "one source", bool)
        expect(gateway.streams(address)[0]["id"] == stream, "another stream")
        page.see("handle.close()")
        page.again(lambda: not gateway.streams(address), "no stream", bool)
        expect(page.see("handle.state.state") == "closed", "not closed")
        expect(page.see("gateway.request('GET', '/v1/upstreams').then(({ upstreams }) => upstreams.length)") == 1, "no request")


def a_slow_iterator_loses_the_oldest_updates(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        watch(page, address)
        page.wait("handle.rows.size === 2")
        page.see("""void (async () => {
            handle.on.bound = 3;
            for await (const update of handle) {
                if (window.second) { window.third = update; break; }
                window.second = window.first;
                window.first = update;
                if (second) await new Promise((resolve) => { window.go = resolve; });
            }
        })(); window.count = 0; void (handle.on.update = () => { count += 1; })""")
        page.wait("window.go && count >= 8")
        page.see("go()")
        page.wait("window.third")
        expect(page.see("third.lost") is True and not page.see("first.lost"), "the loss is not told")


def a_frozen_page_resumes(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        watch(page, address, options='{ share: "tabs" }')
        page.wait("handle.rows.size === 2")
        page.call("Page.setWebLifecycleState", state="frozen")
        page.call("Page.setWebLifecycleState", state="active")
        page.see("void (window.count = 0, handle.on.update = () => { count += 1; })")
        page.wait("count > 4 && handle.state.state === 'open'")


TABLES = """(async () => {
    const { tableOf } = await import("/assets/gateway.js");
    const update = (item, fields, more) => ["update", { item, itemPos: 1, snapshot: false, fields, ...more }];
    const of = (mode, events, bound) => {
        const table = tableOf(mode, bound);
        for (const event of events) table.apply(...event);
        // Whoever gets the rows as a snapshot has an equal table.
        const other = tableOf(mode, bound);
        for (const data of table.snapshot()) other.update(data);
        const shown = ({ items, rows }) => JSON.stringify(items ? [...items].map(([item, keys]) => [item, [...keys]])
            : Array.isArray(rows) ? rows.slice(-(bound ?? rows.length)).map(({ item, fields }) => [item, fields]) : [...rows]);
        return shown(table) === shown(other) ? shown(table) : `${shown(table)} is told as ${shown(other)}`;
    };
    const lost = (by) => ["lost-updates", { item: "a", itemPos: 1, count: 1, by }];
    const row = (key, command, fields) => update("a", { key, command, ...fields }, { key, command });
    return [
        of("MERGE", [update("a", { x: "1", y: null }), update("a", { x: "2" }), update("b", { x: "3" }), ["clear-snapshot", { item: "b", itemPos: 2 }]]),
        of("MERGE", [update(null, { x: "1" }), ["unsubscribed", { active: true }]]),
        of("MERGE", [update("a", { x: "1" }), ["unsubscribed", { active: false }]]),
        of("COMMAND", [row("k", "ADD", { q: "1" }), row("l", "ADD", { q: "2" }), row("k", "UPDATE", { q: "3" }), row("l", "DELETE", { q: null })]),
        of("COMMAND", [row("k", "ADD", {}), ["reset", {}], row("l", "ADD", {})]),
        of("COMMAND", [row("k", "ADD", {}), ["clear-snapshot", { item: "a", itemPos: 1 }]]),
        of("DISTINCT", [update("a", { x: "1", y: "2" }), update("a", { x: "3" }), lost("gateway"), update("a", { x: "4" })]),
        of("RAW", [update("a", { x: "1", y: "2" }), lost("server"), update("a", { x: "3" })]),
        of("DISTINCT", [update("a", { x: "1", y: "2" }), ["clear-snapshot", { item: "a", itemPos: 1 }], update("a", { x: "3" })]),
        of("DISTINCT", [update("a", { x: "1" }), ["clear-snapshot", { item: "a", itemPos: 1 }]]),
        of("DISTINCT", [update("a", { x: "1" }), ["subscribed", {}], update("a", { y: "2" })]),
        of("RAW", Array.from({ length: 100 }, (_, number) => update("a", { x: String(number) })), 2),
    ];
})()"""


def tables_follow_the_rules_of_the_stream(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        rows = [json.loads(text) for text in blank(browser, address).see(TABLES)]
    expect(rows == [
        [["a", {"x": "2", "y": None}]],
        [["1", {"x": "1"}]],
        [],
        [["a", [["k", {"key": "k", "command": "UPDATE", "q": "3"}]]]],
        [["a", [["l", {"key": "l", "command": "ADD"}]]]],
        [],
        [["a", {"x": "1", "y": "2"}], ["a", {"x": "3", "y": "2"}], ["a", {"x": "4"}]],
        [["a", {"x": "1", "y": "2"}], ["a", {"x": "3", "y": "2"}]],
        [["a", {"x": "3", "y": "2"}]],
        [],
        [["a", {"y": "2"}]],
        [["a", {"x": "98"}], ["a", {"x": "99"}]],
    ], f"rows: {rows}")


def a_hidden_page_may_ask_for_less(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        items = '{ upstream: "demo", mode: "MERGE", items: Array.from({ length: 30 }, (_, index) => `item${index + 1}`), fields: ["last_price"] }'
        watch(page, address, items, "{ hidden: { maxFrequency: 2 } }")
        page.wait("handle.rows.size === 30")
        page.see("""Object.defineProperty(document, "hidden", { value: true });
            document.dispatchEvent(new Event("visibilitychange"));
            window.times = []; void (handle.on.change = () => { times.push(performance.now()); })""")
        # Events of the former stream may arrive until the one with the limit is open.
        page.wait("times.length > 4 && times.slice(-4).every((time, index) => time - times.at(index - 5) > 300)")


# MARK: - Frameworks


def hooks_render(binary):
    if not all(path.exists() for path in REACT):
        print("module: React is not installed; its hooks are not tested")
        return
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address)
        for path in REACT:
            page.call("Runtime.evaluate", expression=path.read_text())
        page.see("""(async () => {
            const { connect } = await import("/assets/gateway.js");
            const { hooks } = await import("/assets/gateway-react.js");
            const { useSubscription, useValue } = hooks(React);
            window.gateway = connect();
            function Price({ item }) {
                return React.createElement("b", { id: item }, useValue(gateway, { upstream: "demo", item, field: "last_price" }));
            }
            function Rows() {
                const { state, rows } = useSubscription(gateway, %s);
                window.renders = (window.renders ?? 0) + 1;
                return React.createElement("ul", { "data-state": state.state }, [...rows].map(([item, row]) =>
                    React.createElement("li", { key: item }, row.stock_name, " ", row.last_price)));
            }
            const place = document.body.appendChild(document.createElement("div"));
            window.root = ReactDOM.createRoot(place);
            window.show = (...items) => root.render(React.createElement(React.StrictMode, null,
                React.createElement(Rows), items.map((item) => React.createElement(Price, { key: item, item }))));
            show("item1", "item2");
        })()""" % QUOTES)
        page.wait("document.querySelectorAll('ul[data-state=open] li').length === 2")
        page.wait("Number(document.getElementById('item1').textContent) > 0 && Number(document.getElementById('item2').textContent) > 0")
        expect(len(gateway.streams(address)) == 1, "more than one stream")
        page.see("show()")
        page.again(lambda: len(gateway.streams(address)[0]["sources"]) == 1, "one source", bool)
        page.see("root.unmount()")
        page.again(lambda: not gateway.streams(address), "no stream", bool)
        expect(page.complaints == [], f"the page complains: {page.complaints}")


def elements_show_live_data(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address, "/docs")
        page.see("""(async () => {
            await import("/assets/gateway-elements.js");
            document.body.innerHTML = `<ls-value upstream="demo" item="item1" field="last_price"></ls-value>
                <ls-table upstream="demo" items="item1,item2" fields="stock_name,last_price" caption="Quotes"></ls-table>
                <ls-table id="wrong" upstream="nope" items="item1" fields="a"></ls-table>`;
        })()""")
        page.wait("Number(document.querySelector('ls-value').shadowRoot.querySelector('span').textContent) > 0")
        table = "document.querySelector('ls-table').shadowRoot"
        page.wait(f"{table}.querySelectorAll('tbody tr').length === 2 && {table}.querySelector('table').dataset.state === 'open'")
        expect(page.see(f"{table}.querySelector('caption').textContent") == "Quotes", "no caption")
        expect(page.see(f"[...{table}.querySelectorAll('th')].map(({{ scope }}) => scope).join()") == "col,col,col,row,row", "no scopes")
        page.wait("document.querySelector('#wrong').shadowRoot.querySelector('.problem').textContent.includes('nope')")
        page.see("document.querySelector('ls-table').setAttribute('items', 'item3')")
        page.wait(f"{table}.querySelectorAll('tbody tr').length === 1")
        page.see("document.body.replaceChildren()")
        page.again(lambda: not gateway.streams(address), "no stream", bool)
        expect(page.complaints == [], f"the page complains: {page.complaints}")


def a_table_of_positions_has_the_names_of_its_fields(binary):
    """The first table has a field twice; the second one has a schema, so that only the positions are known."""
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address, "/docs")
        page.see("""(async () => {
            await import("/assets/gateway-elements.js");
            const portfolio = `upstream="demo" mode="COMMAND" items="portfolio1" data-adapter="PORTFOLIO_ADAPTER"
                command-second-level-data-adapter="QUOTE_ADAPTER"`;
            document.body.innerHTML = `<ls-table ${portfolio} fields="key,command,qty,qty" command-second-level-fields="bid"></ls-table>
                <ls-table ${portfolio} fields="key,command,qty" command-second-level-field-schema="bid ask"></ls-table>`;
        })()""")
        for number, heads in enumerate(("key,qty,qty,bid", "key,qty,4,5")):
            table = f"document.querySelectorAll('ls-table')[{number}].shadowRoot"
            page.wait(f"[...{table}.querySelectorAll('thead th')].map(({{ textContent }}) => textContent).join() === '{heads}'")
            page.wait(f"{table}.querySelector('td') && [...{table}.querySelectorAll('td')].every(({{ textContent }}) => textContent !== '')")


TYPED = """(async () => {
    const { LsElement } = await import("/assets/gateway-elements.js");
    const state = { state: "open" }, spec = { fields: ["n", "b", "o", "t"] };
    LsElement.connection = () => ({ subscribe: () => ({ rows: new Map(), table: { rows: new Map() }, state, spec, info: {}, close() {} }) });
    document.body.innerHTML = '<ls-value item="a" field="n" gateway="x"></ls-value><ls-table feed="f" gateway="x"></ls-table>';
    const [one, table] = document.body.children, flashes = [];
    for (const n of [1, 1, 2]) {
        const rows = new Map([["a", { n, b: true, o: { p: [1] }, t: null }]]);
        for (const element of [one, table]) {
            element.draw({ rows, table: { rows }, state, spec, info: {} });
            flashes.push(element.shadowRoot.querySelectorAll(".changed").length);
            for (const cell of element.shadowRoot.querySelectorAll(".changed")) cell.classList.remove("changed");
        }
    }
    return [one.shadowRoot.textContent, [...table.shadowRoot.querySelectorAll("td")].map((cell) => cell.textContent).join("|"), flashes.join()];
})()"""


def elements_flash_only_what_changes(binary):
    with gateway.demo(binary) as (address, _), browsing() as browser:
        found = blank(browser, address, "/docs").see(TYPED)
    expect(found == ["2", '2|true|{"p":[1]}|', "1,0,0,0,1,1"], f"elements: {found}")


BUSY = """(async () => {
    const { LsElement } = await import("/assets/gateway-elements.js");
    const state = { state: "open" }, spec = { fields: ["n"] };
    LsElement.connection = () => ({ subscribe: () => ({ rows: new Map(), table: { rows: new Map() }, state, spec, info: {}, close() {} }) });
    document.body.innerHTML = '<ls-table feed="f" gateway="x"></ls-table>';
    const [table] = document.body.children;
    let turn = 0;
    window.draw = (count) => {
        turn += 1;
        const rows = new Map(Array.from({ length: count }, (_, row) => [`item${row}`, { n: turn }]));
        table.draw({ rows, table: { rows }, state, spec, info: {} });
        return [table.shadowRoot.querySelectorAll("td").length, table.shadowRoot.querySelectorAll(".changed").length].join();
    };
})()"""


def layouts(page):
    return next(one["value"] for one in page.call("Performance.getMetrics")["metrics"] if one["name"] == "LayoutCount")


def changes_of_a_table_are_laid_out_together(binary):
    """A layout for each cell made a page with a large table stop. Where very many cells change, no cell flashes."""
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address, "/docs")
        page.see(BUSY)
        page.call("Performance.enable")
        page.see("draw(50)")
        before = layouts(page)
        expect(page.see("draw(50)") == "50,50", "changed cells do not flash")
        page.see("document.body.offsetWidth")
        expect(layouts(page) - before <= 5, f"{layouts(page) - before} layouts for one drawing")
        page.see("document.body.replaceChildren()")
        page.see(BUSY)
        page.see("draw(500)")
        expect(page.see("draw(500)") == "500,0", "500 cells flash at a time")


def changes_of_a_value_are_announced_on_demand(binary):
    """A live region announces each change; a page says where it wants that."""
    with gateway.demo(binary) as (address, _), browsing() as browser:
        page = blank(browser, address, "/docs")
        page.see("""(async () => {
            await import("/assets/gateway-elements.js");
            document.body.innerHTML = `<ls-value id="quiet" feed="quotes" item="item1" field="bid"></ls-value>
                <ls-value id="spoken" aria-live="polite" feed="quotes" item="item1" field="bid"></ls-value>`;
        })()""")
        page.call("Accessibility.enable")
        for name, expected in (("quiet", []), ("spoken", ["polite"])):
            page.wait(f"document.querySelector('#{name}').shadowRoot.textContent")
            found = page.call("Runtime.evaluate", expression=f"document.querySelector('#{name}').shadowRoot.firstChild")["result"]
            nodes = page.call("Accessibility.getPartialAXTree", objectId=found["objectId"], fetchRelatives=True)["nodes"]
            live = [one["value"]["value"] for node in nodes for one in node.get("properties", []) if one["name"] == "live"]
            expect(live == expected, f"the live regions of {name} are {live}")


CHECKS = [
    it_is_small, it_can_be_packed, twenty_tabs_use_one_connection,
    the_death_of_the_leader_is_a_short_silence, a_refusal_is_final_and_explained, a_wrong_key_is_asked_for_once_more,
    a_full_gateway_is_asked_rarely, a_limit_of_streams_is_obeyed, silence_is_not_hidden, a_lost_upstream_makes_values_stale,
    subscriptions_change_and_end, a_slow_iterator_loses_the_oldest_updates, a_frozen_page_resumes, tables_follow_the_rules_of_the_stream,
    a_hidden_page_may_ask_for_less, hooks_render, elements_show_live_data,
    a_table_of_positions_has_the_names_of_its_fields, elements_flash_only_what_changes,
    changes_of_a_table_are_laid_out_together, changes_of_a_value_are_announced_on_demand,
]


def main(binary):
    gateway.run(CHECKS, binary)
    print(f"module: {len(CHECKS)} checks")


if __name__ == "__main__":
    gateway.script("module", main)
