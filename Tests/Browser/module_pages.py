"""What pages do to the module for browsers, and gateways in trouble: tokens, callbacks, storage, proxies. The page has a gateway of its own.

    python module_pages.py

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

from concurrent.futures import ThreadPoolExecutor

import gateway
from browser import browsing
from module import blank, expect
from pages import other_origin

# A gateway in the place of `fetch`: `refuse` may answer a request; `changed` sees a change of the sources, and may delay its answer; `send`
# sends an event to the open stream, `told` the event `stream`. Sources have the facts of `state`.
FAKE = """(async () => {
    const module = await import("/gateway.js");
    const json = (status, body, headers) => new Response(JSON.stringify(body), { status, headers });
    const state = { client: "c", status: "CONNECTED:WS-STREAMING", active: true, subscribed: true, lastError: null };
    window.fake = { requests: [], refuse: () => null, changed: () => {}, json, state, serial: 0, events: 0 };
    let sources = [], output;
    const add = (list) => list.map((source) => ({ ...state, subscription: `s${++fake.serial}`, mode: source.mode }));
    fake.write = (text) => output.enqueue(new TextEncoder().encode(text));
    fake.send = (name, data, id = `e-${++fake.events}`) => fake.write(`event: ${name}\\nid: ${id}\\ndata: ${JSON.stringify(data)}\\n\\n`);
    fake.update = (number, fields) =>
        fake.send("update", { subscription: `s${number}`, client: "c", item: "a", itemPos: 1, snapshot: false, fields });
    fake.told = (sources, resume = "resumed") => fake.send("stream", { stream: "stream", sources, resume }, "");
    fake.end = () => output.close();
    window.fetch = async (url, { method = "GET", headers = {}, body, signal } = {}) => {
        const path = new URL(url).pathname, token = headers.Authorization?.slice(7), data = body && JSON.parse(body);
        fake.requests.push({ method, path, token });
        const refusal = await fake.refuse({ method, path, token, data, signal });
        if (refusal) return refusal;
        if (method === "DELETE") return new Response(null, { status: 204 });
        if (method === "POST") {
            sources = add(data.sources);
            return json(201, { id: "stream", sources });
        }
        if (method === "PATCH") {
            const removed = new Set((data.remove ?? []).map(({ subscription }) => subscription));
            sources = [...sources.filter(({ subscription }) => !removed.has(subscription)), ...add(data.add ?? [])];
            await fake.changed(data, sources);
            return json(200, { id: "stream", sources });
        }
        if (!path.endsWith("/events")) return json(404, {});
        const stream = new ReadableStream({ start(controller) { output = controller; } });
        signal?.addEventListener("abort", () => { try { output.error(signal.reason); } catch {} });
        fake.told(sources, headers["Last-Event-ID"] ? "resumed" : "fresh");
        return new Response(stream, { status: 200 });
    };
    window.quotes = { upstream: "demo", mode: "MERGE", items: ["a"], fields: ["n"] };
    window.states = [];
    window.start = (options, callbacks) => {
        window.gateway = module.connect("http://gateway.example", { share: "page", ...options });
        window.handle = gateway.subscribe(quotes, { state: (state) => states.push(state), ...callbacks });
    };
    window.until = async (test, most = 10_000) => {
        for (const end = Date.now() + most; Date.now() < end;) {
            if (await test()) return true;
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        throw new Error(`never: ${test}; ${JSON.stringify({ states, requests: fake.requests })}`);
    };
    window.connect = module.connect;
})()"""


def trial(name, text):
    """A check whose script runs in a page of its own, whose gateway is the fake; it returns what is wrong, if anything is."""
    def check(browser, origin):
        page = blank(browser, origin, "/none")
        page.see(FAKE)
        found = page.see(f"(async () => {{ {text} }})()")
        expect(not found, found)
        expect(page.complaints == [], f"the page complains: {page.complaints}")
        page.close()

    check.__name__ = name
    return check


def perform(checks, description, *pages, windows=3):
    """Performs trials from the server that `other_origin(*pages)` starts. Most wait, so each window has one at a time."""
    remaining = iter(checks)

    def window(origin):
        with browsing() as browser:
            # A window ends with its last tab, and another one takes longer to open than a tab.
            browser.tab("about:blank")
            for check in remaining:
                gateway.run([check], browser, origin)

    with other_origin(*pages) as origin, ThreadPoolExecutor(windows) as pool:
        list(pool.map(window, [origin] * windows))
    print(description)


# MARK: - Tokens

TOKENS = """
    const text = (claims) => `h.${btoa(JSON.stringify(claims)).replaceAll("=", "")}.s`;
"""

CHECKS = [
    trial("tabs_of_a_subject_share_a_stream", TOKENS + """
        const open = (sub, iat) => connect("http://gateway.example", { share: "tabs", token: () => text({ iss: "i", sub, iat }) });
        const own = [open("ann", 1), open("ann", 2), open("bob", 3)].map((one) => one.subscribe(quotes));
        await until(() => own.every(({ state }) => state.state === "open"));
        const made = fake.requests.filter(({ method }) => method === "POST").length;
        if (made !== 2) return `${made} streams of two users`;
    """),
    # A laptop that slept: the tokens of all tabs have expired.
    trial("tokens_of_other_tabs_may_have_expired_too", TOKENS + """
        let valid = 1;
        fake.refuse = ({ token }) => token !== text({ sub: "ann", iat: valid }) && fake.json(401, { code: "unauthorized" });
        const open = () => connect("http://gateway.example", { share: "tabs", token: () => text({ sub: "ann", iat: valid }) });
        const own = [];
        for (let number = 0; number < 2; number += 1) {
            own.push(open().subscribe(quotes));
            await until(() => own.every(({ state }) => state.state === "open"));
        }
        valid = 2;
        fake.end();
        await until(() => own.every(({ state }) => state.state !== "open"));
        await until(() => own.every(({ state }) => state.state === "open" || state.state === "refused"));
        if (own[0].state.state !== "open") return own[0].state.reason;
    """),
    trial("users_who_are_known_late_share_no_stream", TOKENS + """
        let isAway = true;
        const asked = { ann: 0, bob: 0 };
        const own = ["ann", "bob"].map((sub) => connect("http://gateway.example", { share: "tabs", token: () => {
            asked[sub] += 1;
            if (isAway) throw new Error("the login is away");
            return text({ sub });
        } }).subscribe(quotes));
        await until(() => own.every(({ state }) => state.state === "reconnecting" && state.reason.includes("the login is away")));
        isAway = false;
        await until(() => own.every(({ state }) => state.state === "open"));
        const made = fake.requests.filter(({ method }) => method === "POST").map(({ token }) => token).sort();
        if (made.join() !== [text({ sub: "ann" }), text({ sub: "bob" })].sort().join()) return `streams of ${made}`;
        if (asked.ann > 9 || asked.bob > 9) return `asked ${JSON.stringify(asked)}`;
    """),
    # As after a login of somebody else in one of the tabs.
    trial("a_page_that_changes_its_user_leaves_the_stream_of_the_former_one", TOKENS + """
        let user = "ann", valid = 1;
        const own = [];
        // The hub asks the newest tab first, which is the one whose user changes.
        for (const sub of [() => "ann", () => user]) {
            own.push(connect("http://gateway.example", { share: "tabs", token: () => text({ sub: sub(), iat: valid }) }).subscribe(quotes));
            await until(() => own.every(({ state }) => state.state === "open"));
        }
        const before = fake.requests.length;
        user = "bob";
        valid = 2;
        fake.refuse = ({ token }) => ![text({ sub: "ann", iat: 2 }), text({ sub: "bob", iat: 2 })].includes(token) && fake.json(401, { code: "unauthorized" });
        fake.end();
        const users = (wanted) => new Set(fake.requests.slice(before).filter(({ method }) => method === wanted).map(({ token }) => token));
        await until(() => users("POST").has(text({ sub: "bob", iat: 2 })) && users("GET").has(text({ sub: "ann", iat: 2 })));
        await until(() => own.every(({ state }) => state.state === "open"));
    """),
    # Of one user: the first tab has a token that was refused, the second fails, the third has the next one.
    trial("one_tab_with_a_valid_token_is_enough", TOKENS + """
        for (const order of [[0, 1, 2], [2, 1, 0], [1, 2, 0]]) {
            let valid = 1;
            const token = (iat) => text({ sub: `${order}`, iat }), tokens = [() => token(1), () => {
                if (valid > 1) throw new Error("the login is away");
                return token(1);
            }, () => token(valid)];
            fake.refuse = (request) => request.token !== token(valid) && fake.json(401, { code: "unauthorized" });
            const tabs = [], own = [];
            for (const index of order) {
                tabs.push(connect("http://gateway.example", { share: "tabs", token: tokens[index] }));
                own.push(tabs.at(-1).subscribe(quotes));
                await until(() => own.every(({ state }) => state.state === "open"));
            }
            valid = 2;
            fake.end();
            await until(() => fake.requests.some((request) => request.token === token(2)), 3000);
            await until(() => own.every(({ state }) => state.state === "open"));
            for (const one of tabs) one.close();
        }
    """),
    # The gateway spreads the streams of other endings over some seconds.
    trial("a_stream_whose_token_expires_goes_on_at_once", """
        const asked = [];
        start({ token: () => `${asked.push(performance.now())}` });
        await until(() => handle.state.state === "open");
        fake.write("retry: 5000\\n\\n");
        for (let number = 1; number < 3; number += 1) {
            fake.update(1, { n: `${number}` });
            await until(() => handle.rows.get("a")?.n === `${number}`);
            fake.send("closing", { reason: "token-expired" });
            fake.end();
            await until(() => fake.requests.filter(({ path }) => path.endsWith("/events")).length === number + 1, 2000);
        }
        // One that ends again before the first update waits.
        fake.send("closing", { reason: "token-expired" }, "");
        fake.end();
        await until(() => handle.state.state === "reconnecting" || asked.length > 4);
        if (asked.length !== 3 || states.filter(({ state }) => state === "reconnecting").length !== 1) return JSON.stringify([asked, states]);
    """),
    trial("a_change_that_is_refused_for_a_while_is_repeated_soon", """
        start({});
        await until(() => handle.state.state === "open");
        const changes = () => fake.requests.filter(({ method }) => method === "PATCH").length;
        fake.refuse = ({ method }) => method === "PATCH" && changes() < 3 && fake.json(503, { code: "unavailable" });
        gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => changes() === 3, 6000);
    """),
    trial("a_retry_needs_no_other_token", TOKENS + """
        let isAway = false;
        const valid = text({ sub: "a", iat: 1 }), tabs = [], own = [];
        for (const token of [() => valid, () => { if (isAway) throw new Error("the login is away"); return valid; }]) {
            tabs.push(connect("http://gateway.example", { share: "tabs", token }));
            own.push(tabs.at(-1).subscribe(quotes));
            await until(() => own.every(({ state }) => state.state === "open"));
        }
        // The first time, the token that the second tab has brought is used.
        for (isAway of [false, true]) {
            tabs[0].retry();
            const { length } = fake.requests;
            fake.end();
            await until(() => fake.requests.length > length, 5000);
            await until(() => own.every(({ state }) => state.state === "open"));
        }
    """),
    # A source needs the rights of the token of the request, and, in an open stream, of the token that has opened the stream.
    trial("a_retry_has_the_rights_of_the_present_token", TOKENS + """
        let iat = 1, opener;
        fake.refuse = ({ method, path, token, data }) => {
            if (path.endsWith("/events")) opener = token;
            const isOther = (data?.sources ?? data?.add)?.some(({ items }) => items[0] === "b");
            return isOther && [token, method === "PATCH" ? opener : token].includes(text({ sub: "ann", iat: 1 })) && fake.json(403, { code: "forbidden" });
        };
        start({ token: () => text({ sub: "ann", iat }) });
        await until(() => handle.state.state === "open");
        fake.update(1, { n: "1" });
        const other = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => handle.rows.size && other.state.state === "refused");
        iat = 2;
        gateway.retry();
        await until(() => other.state.state === "open" && handle.state.state === "open");
        // The stream was continued.
        if (gateway.state.resume !== "resumed" || !handle.rows.size) return JSON.stringify(gateway.state);
    """),
    # The open stream went on with the rights of the former cookie: all data were there after the sign-out.
    trial("a_retry_after_a_sign_out_ends_the_stream", """
        start();
        await until(() => handle.state.state === "open");
        fake.write("retry: 5000\\n\\n");
        fake.update(1, { n: "1" });
        await until(() => handle.rows.size);
        let isSignedIn = false;
        fake.refuse = () => !isSignedIn && fake.json(401, { code: "unauthorized" });
        gateway.retry();
        await until(() => handle.state.state === "refused", 2000);
        isSignedIn = true;
        gateway.retry();
        await until(() => handle.state.state === "open", 2000);
        gateway.retry();
        await until(() => fake.requests.at(-1).path.endsWith("/events") && gateway.state.resume === "resumed", 2000);
        if (states.some(({ state }) => state === "reconnecting")) return JSON.stringify(states);
    """),
    # Other tabs of the user have a token without the rights that the present one has.
    trial("a_retry_asks_for_the_token_of_its_tab", TOKENS + """
        let best = 0;
        const tabs = [], own = [], token = (iat) => text({ sub: "ann", iat });
        for (const index of [1, 2, 3]) {
            tabs.push(connect("http://gateway.example", { share: "tabs", token: () => token(best === index ? 9 : index) }));
            own.push(tabs.at(-1).subscribe(quotes));
            await until(() => own.every(({ state }) => state.state === "open"));
        }
        fake.refuse = (request) => (request.data?.sources ?? request.data?.add)?.some(({ items }) => items[0] === "b")
            && request.token !== token(9) && fake.json(403, { code: "forbidden" });
        const other = tabs[1].subscribe({ ...quotes, items: ["b"] });
        await until(() => other.state.state === "refused");
        best = 2;
        tabs[1].retry();
        await until(() => other.state.state === "open");
    """),
    trial("tabs_whose_credentials_differ_share_no_stream", """
        const used = new Set(), { fetch } = window;
        window.fetch = (url, init) => {
            if (init?.method === "POST") used.add(init.credentials);
            return fetch(url, init);
        };
        const own = [undefined, "include", "omit"].map((credentials) =>
            connect("http://gateway.example", { share: "tabs", credentials }).subscribe(quotes));
        await until(() => own.every(({ state }) => state.state === "open"));
        if ([...used].sort().join() !== "include,omit,same-origin") return [...used].join();
    """),
    trial("a_token_that_takes_long_stops_no_events", """
        start({ token: (isRenewed) => isRenewed ? new Promise(() => {}) : "old" });
        await until(() => handle.state.state === "open");
        fake.refuse = ({ method }) => method === "PATCH" && fake.json(401, { code: "unauthorized" });
        gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => fake.requests.some(({ method }) => method === "PATCH"));
        await new Promise((resolve) => setTimeout(resolve, 50));
        fake.update(1, { n: "1" });
        await until(() => handle.rows.size === 1, 2000);
    """),
    trial("a_page_that_gives_no_token_in_time_is_asked_again", """
        let asked = 0;
        start({ token: () => ++asked === 1 ? "old" : asked === 2 ? new Promise(() => {}) : "new" });
        fake.refuse = ({ token }) => token !== "new" && fake.json(401, { code: "unauthorized" });
        await until(() => handle.state.state === "open" || handle.state.state === "refused", 20_000);
        if (handle.state.state !== "open") return handle.state.reason;
        if (fake.requests.some(({ token }) => !token)) return "a request without a token";
    """),
    trial("a_token_function_that_fails_without_a_message_is_asked_with_pauses", """
        let asked = 0;
        start({ token: () => {
            asked += 1;
            throw new Error();
        } });
        await until(() => handle.state.state === "reconnecting");
        if (asked > 3) return `asked ${asked} times`;
    """),
    trial("callbacks_may_close_and_change_subscriptions", """
        const calls = [], note = (name) => (...values) => { calls.push([name, ...values]); };
        const all = (name) => Object.fromEntries(["update", "reset", "snapshot", "change", "event", "info"].map((of) => [of, note(`${name} ${of}`)]));
        let closed, moved, later;
        start({}, { update({ fields }) {
            if (fields.n === "1") closed.close();
            if (fields.n === "2") moved.change({ ...quotes, items: ["b"] });
            if (fields.n === "3") later = gateway.subscribe(quotes, { ...all("later"), update() { later.close(); note("later update")(); } });
        } });
        closed = gateway.subscribe(quotes, all("closed"));
        moved = gateway.subscribe(quotes, all("moved"));
        const own = gateway.subscribe(quotes, { ...all("own"), snapshot() { own.close(); calls.push(["own is closed"]); } });
        await until(() => own.isClosed && [handle, closed, moved].every(({ state }) => state.state === "open"));
        for (const [number, name] of [[1, "closed"], [2, "moved"], [3, "later"]]) {
            calls.length = 0;
            fake.update(1, { n: `${number}` });
            await until(() => handle.rows.get("a")?.n === `${number}`);
            if (number === 1 && closed.state.state !== "closed") return "a closed subscription is " + closed.state.state;
            if (number === 2) await until(() => moved.state.state === "open");
            if (calls.some(([of, value]) => of === `${name} update` && value)) return `${name}: ${JSON.stringify(calls)}`;
        }
        await until(() => later.isClosed);
        if (calls.filter(([of]) => of.startsWith("later")).at(-1)[0] !== "later update") return JSON.stringify(calls);
        if (moved.rows.size) return "rows of the former subscription";
        fake.update(2, { n: "4" });
        await until(() => moved.rows.get("a")?.n === "4");
    """),
    trial("what_a_watcher_throws_concerns_no_other", """
        const seen = [], reported = [];
        addEventListener("error", (event) => { event.preventDefault(); reported.push(event.message); });
        start();
        const store = gateway.store({ ...quotes, items: ["b"] });
        let ends = [];
        ends.push(gateway.watch(({ state }) => { if (state === "open") throw new Error("a watcher"); }));
        ends.push(gateway.watch(({ state }) => { seen.push(state); if (state === "open") ends.at(2)(); }));
        ends.push(gateway.watch(({ state }) => { if (state === "open") seen.push("after its end"); }));
        store.subscribe(({ state }) => { if (state.state === "open") throw new Error("a reader"); });
        let last;
        store.subscribe(({ state }) => { last = state.state; });
        await until(() => last === "open" && seen.at(-1) === "open");
        if (!reported.some((text) => text.includes("a watcher")) || !reported.some((text) => text.includes("a reader"))) return reported.join();
    """),
    trial("a_reader_of_a_store_of_a_closed_gateway_is_told", """
        start();
        const store = gateway.store(quotes), seen = [];
        gateway.close();
        store.subscribe(({ state }) => seen.push(state.state));
        if (seen.join() !== "closed" || store.get().state.state !== "closed") return `${seen}, ${store.get().state.state}`;
    """),
    # Timers of a hidden page run once a second, and more rarely where the page works much.
    trial("a_hub_in_a_hidden_page_adds_subscriptions_at_once", """
        const after = setTimeout, wait = () => new Promise((resolve) => after(resolve, 5));
        start();
        const other = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => other.state.state === "open");
        Object.defineProperty(document, "hidden", { value: true });
        window.setTimeout = (run, time) => after(run, 60_000 + time);
        for (const [first, next] of [["c", "d"], ["e", "f"]]) {
            const added = [first, next].map((item) => gateway.subscribe({ ...quotes, items: [item] })), end = performance.now() + 3000;
            while (added.some(({ state }) => state.state !== "open")) {
                if (performance.now() > end) return JSON.stringify(added.map(({ state }) => state));
                await wait();
            }
        }
    """),
    # Timers may run a little before their time.
    trial("a_hub_in_a_hidden_page_removes_what_no_tab_needs", """
        const after = setTimeout, removed = [];
        fake.changed = ({ remove = [] }) => removed.push(...remove);
        start();
        const other = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => other.state.state === "open");
        Object.defineProperty(document, "hidden", { value: true });
        window.setTimeout = (run, time, ...rest) => after(run, .99 * time, ...rest);
        other.close();
        await until(() => removed.length === 1, 3000);
    """),
    # It kept the connection with all that belongs to the application for a minute and a half.
    trial("a_connection_that_is_closed_leaves_no_timer", """
        const running = new Set(), { setTimeout: after, clearTimeout: end } = window;
        window.setTimeout = (run, time, ...rest) => {
            const id = after(run, time, ...rest);
            if (time === 90_000) running.add(id);
            return id;
        };
        window.clearTimeout = (id) => {
            running.delete(id);
            end(id);
        };
        start();
        await until(() => handle.state.state === "open");
        if (running.size !== 1) return `${running.size} timers`;
        gateway.close();
        if (running.size) return "the timer goes on";
    """),
    trial("a_specification_is_copied", """
        const items = ["a"];
        start({ share: "tabs" });
        const proxied = gateway.subscribe({ ...quotes, fields: ["m"], items: new Proxy(items, {}) });
        await until(() => proxied.state.state === "open");
        items.push("b");
        if (proxied.spec.items.join() !== "a") return proxied.spec.items.join();
    """),
    # A browser gives no reason why there is no response. A gateway that has answered names the origin.
    trial("a_page_of_another_origin_without_a_response_is_told_of_its_origin", """
        let isAway = true;
        fake.refuse = () => { if (isAway) throw new TypeError("Failed to fetch"); };
        const told = () => states.findLast(({ state }) => state === "reconnecting")?.reason;
        start();
        await until(told);
        if (told() !== `The gateway does not answer, or its cors.origins lacks ${location.origin}.`) return told();
        isAway = false;
        await until(() => handle.state.state === "open");
        isAway = true;
        states.length = 0;
        fake.end();
        await until(() => told()?.startsWith("The gateway"));
        if (told() !== "The gateway does not answer.") return told();
        const own = connect(location.origin, { share: "page" }).subscribe(quotes);
        await until(() => own.state.state === "reconnecting");
        if (own.state.reason !== "The gateway does not answer.") return own.state.reason;
    """),
    # As in a browser that blocks all cookies.
    trial("lists_are_texts_with_commas_and_spaces", """
        fake.refuse = ({ method, data }) => { if (method === "POST") window.sent = data.sources; };
        start({}, { state() {} });
        gateway.subscribe({ upstream: "demo", items: "\\n  b,\\n  c\\n", fields: "n, m", commandSecondLevelFields: "o ,p" });
        await until(() => window.sent?.length === 2);
        const found = JSON.stringify([sent[1].items, sent[1].fields, sent[1].commandSecondLevelFields]);
        if (found !== '[["b","c"],["n","m"],["o","p"]]') return found;
    """),
    trial("a_source_with_several_mistakes_tells_the_first_one", """
        const errors = [["items", "An item name is expected."], ["fields", "It needs an item."]]
            .map(([name, detail]) => ({ pointer: `/sources/1/${name}/0`, code: "invalid-value", detail }));
        fake.refuse = ({ data }) => data?.sources?.length > 1 && fake.json(422, { code: "invalid-value", errors });
        start();
        const other = gateway.subscribe({ ...quotes, items: ["x"] });
        await until(() => other.state.state === "refused" && handle.state.state === "open");
        if (other.state.reason !== "An item name is expected.") return other.state.reason;
    """),
    trial("a_page_without_storage_has_a_stream_of_its_own", """
        for (const name of ["query", "request"]) LockManager.prototype[name] = async () => { throw new DOMException("denied", "SecurityError"); };
        window.SharedWorker = window.BroadcastChannel = class { constructor() { throw new DOMException("denied", "SecurityError"); } };
        start({ share: undefined });
        await until(() => handle.state.state === "open");
    """),
    # The stream has had the snapshot when it is cut; the answer to the addition comes later.
    trial("a_snapshot_before_the_answer_to_its_addition_is_not_lost", """
        let answer;
        fake.changed = async ({ add }, sources) => {
            if (!add) return;
            const { subscription } = sources.at(-1);
            fake.told(sources);
            fake.send("update", { subscription, client: "c", item: "b", itemPos: 1, snapshot: true, fields: { n: "1" } });
            await (answer ? null : new Promise((resolve) => { answer = resolve; }));
        };
        start();
        await until(() => handle.state.state === "open");
        fake.update(1, { n: "0" });
        const added = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => answer);
        fake.end();
        await until(() => handle.state.state !== "open");
        answer();
        await until(() => handle.state.state === "open");
        await until(() => added.rows.get("b")?.n === "1");
    """),
    trial("a_status_before_the_answer_to_an_addition_is_not_lost", """
        let answer;
        fake.changed = (_, sources) => {
            sources.at(-1).status = "DISCONNECTED:TRYING-RECOVERY";
            sources.at(-1).lastFailure = { detail: "The server closed the connection." };
            fake.told(sources);
            fake.send("status", { client: "c", status: "CONNECTED:WS-STREAMING" });
            fake.update(1, { n: "0" });
            return new Promise((resolve) => { answer = resolve; });
        };
        start();
        await until(() => handle.state.state === "open");
        const added = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => answer && handle.rows.get("a")?.n === "0");
        answer();
        await until(() => added.state.state === "open");
        if (added.info.lastFailure) return JSON.stringify(added.info);
    """),
    # Old values of an upstream that was away had their last update when the page was opened.
    trial("a_snapshot_is_no_update", """
        const away = (status) => fake.send("status", { client: "c", status });
        start();
        await until(() => handle.state.state === "open");
        fake.send("update", { subscription: "s1", client: "c", item: "a", itemPos: 1, snapshot: true, fields: { n: "1" } });
        away("DISCONNECTED:WILL-RETRY");
        await until(() => handle.state.state === "stale");
        if (handle.state.since !== null) return `since ${handle.state.since}`;
        away(fake.state.status);
        fake.update(1, { n: "2" });
        away("DISCONNECTED:WILL-RETRY");
        await until(() => handle.state.since > Date.now() - 10_000);
    """),
    trial("a_clock_that_is_set_back_delays_no_events", """
        start();
        await until(() => handle.state.state === "open");
        fake.update(1, { n: "1" });
        await until(() => handle.rows.size === 1);
        const now = Date.now;
        Date.now = () => now() - 3_600_000;
        fake.update(1, { n: "2" });
        await until(() => handle.rows.get("a").n === "2", 2000);
    """),
    trial("a_clock_that_is_set_back_prolongs_no_limit", """
        fake.refuse = ({ path }) => path === "/v1/any" && fake.json(200, {}, { RateLimit: '"caller";r=0;t=1' });
        start();
        await gateway.request("GET", "/v1/any");
        const now = Date.now;
        Date.now = () => now() - 3_600_000;
        let isDone = false;
        gateway.request("GET", "/v1/any").then(() => { isDone = true; });
        await until(() => isDone, 5000);
    """),
    trial("a_list_tells_all_fields_of_an_item_whose_events_are_old", """
        start();
        const list = { ...quotes, mode: "RAW", items: ["a", "b"], fields: ["n", "m"] }, first = gateway.subscribe(list);
        await until(() => first.state.state === "open" && first.info.source);
        const send = (item, fields) => fake.send("update",
            { subscription: first.info.source, client: "c", item, itemPos: item === "a" ? 1 : 2, snapshot: false, fields });
        send("a", { n: "1", m: "kept" });
        for (let number = 1; number <= 1500; number += 1) send("b", { n: `${number}`, m: "" });
        await until(() => first.rows.at(-1)?.fields.n === "1500");
        const second = gateway.subscribe(list, { bound: 3 });
        await until(() => second.rows.at(-1)?.fields.n === "1500");
        send("a", { n: "2" });
        await until(() => second.rows.at(-1).item === "a");
        for (const { rows } of [first, second]) if (rows.at(-1).fields.m !== "kept") return JSON.stringify(rows.at(-1));
    """),
    trial("a_list_has_no_more_rows_than_its_bound", """
        start();
        const list = { ...quotes, mode: "RAW" }, first = gateway.subscribe(list, { bound: 2 });
        await until(() => first.state.state === "open");
        for (let number = 1; number <= 9; number += 1) {
            fake.update(2, { n: `${number}` });
            await until(() => first.rows.at(-1)?.fields.n === `${number}`);
            if (first.rows.length > 2) return `${first.rows.length} rows`;
        }
        const second = gateway.subscribe(list, { bound: 3 });
        await until(() => second.rows.length);
        if (second.rows.map(({ fields }) => fields.n).join() !== "7,8,9") return JSON.stringify(second.rows);
    """),
    # By a clock that each look advances by half a millisecond, the time of a task is the number of looks in it, on any machine.
    trial("a_torrent_leaves_the_page_responsive", """
        const { parse } = JSON, total = 5_000;
        let handled = 0, longest = 0;
        // The hub parses each event, and the page takes it. Both let other tasks have their turn by a message to themselves.
        const count = () => { longest = Math.max(longest, ++handled); };
        window.MessageChannel = class extends MessageChannel {
            constructor() {
                super();
                this.port1.addEventListener("message", () => { handled = 0; });
            }
        };
        start({ share: "tabs" }, { update: count });
        await until(() => handle.state.state === "open");
        let now = Date.now();
        Date.now = () => now += 0.5;
        JSON.parse = (text) => (count(), parse(text));
        const update = (number) => `id: e-${number}\\nevent: update\\ndata: ` + JSON.stringify(
            { subscription: "s1", item: `i${number % 1_000}`, itemPos: number % 1_000 + 1, snapshot: false, fields: { n: `${number}` } }) + "\\n\\n";
        fake.write(Array.from({ length: total }, (_, index) => update(index + 1)).join(""));
        await until(() => handle.rows.get("i0")?.n === `${total}`, 1e9);
        // Another tab receives all rows by one message.
        const tab = connect("http://gateway.example", { share: "tabs" }).subscribe(quotes, { update: count });
        await until(() => tab.rows.size === 1_000, 1e9);
        JSON.parse = parse;
        if (longest > 100) return `${longest} events in one task`;
    """),
    trial("a_refusal_by_a_proxy_may_pass", """
        let count = 0;
        fake.refuse = ({ method }) => method === "POST" && ++count < 3 && new Response("<h1>No backend</h1>", { status: 404 });
        start();
        await until(() => handle.state.state === "open" || handle.state.state === "refused");
        if (handle.state.state !== "open") return handle.state.reason;
        if (!states.some(({ state, reason }) => state === "reconnecting" && reason.includes("404"))) return JSON.stringify(states);
    """),
    trial("a_subscription_does_not_wait_for_the_refusal_of_another_one", """
        const source = { subscription: "s1", client: "c", status: "CONNECTED:WS-STREAMING", active: true, subscribed: false, lastError: null };
        const refusal = { subscription: "s1", client: "c", code: 21, message: "Bad Item Group name" };
        const event = (name, data) => `event: ${name}\\ndata: ${JSON.stringify(data)}\\n\\n`;
        let isWrong;
        fake.refuse = ({ method, path, data }) => {
            if (method === "POST") isWrong = data.sources[0].items[0] === "a";
            return isWrong && path.endsWith("/events") && new Response(
                event("stream", { stream: "stream", sources: [source], resume: "fresh" }) + `id: e-1\\n${event("subscription-error", refusal)}`
                + `retry: 40000\\n${event("closing", { reason: "refused" })}`);
        };
        start();
        await until(() => handle.state.state === "refused");
        handle.change({ ...quotes, items: ["b"] });
        await until(() => handle.state.state === "open");
    """),
    trial("a_refusal_that_no_event_told_is_asked_with_growing_pauses", """
        const source = { subscription: "s1", client: "c", status: "CONNECTED:WS-STREAMING", active: true, subscribed: false, lastError: null };
        const event = (name, data) => `event: ${name}\\ndata: ${JSON.stringify(data)}\\n\\n`, times = [];
        fake.refuse = ({ path }) => path.endsWith("/events") && times.push(performance.now()) && new Response(
            event("stream", { stream: "stream", sources: [source], resume: "fresh" }) + `retry: 40000\\n${event("closing", { reason: "refused" })}`);
        start();
        await until(() => times.length === 4);
        const pauses = times.slice(1).map((time, index) => time - times[index]);
        if (pauses[0] < 200 || pauses[1] < 450 || pauses[2] < 950) return `pauses: ${pauses}`;
    """),
    trial("a_stream_that_drops_after_an_error_of_its_session_is_opened_again", """
        const opened = () => fake.requests.filter(({ path }) => path.endsWith("/events")).length;
        start();
        await until(() => handle.state.state === "open");
        fake.send("server-error", { client: "c", code: 8, message: "Too many sessions" });
        await until(() => handle.state.state === "refused");
        fake.end();
        await until(() => opened() === 2 && handle.state.state === "open");
    """),
    # The stream tells that another session has followed; the subscription is not confirmed yet.
    trial("another_session_ends_the_error_of_the_former_one", """
        const source = { subscription: "s1", client: "c", status: "CONNECTED:WS-STREAMING", active: true, subscribed: false, lastError: null };
        start();
        await until(() => handle.state.state === "open");
        fake.send("server-error", { client: "c", code: 8, message: "Too many sessions" });
        await until(() => handle.state.state === "refused");
        fake.told([source]);
        await until(() => handle.state.state === "connecting" || handle.state.state === "waiting");
    """),
    trial("a_stream_with_rare_heartbeats_is_not_lost", """
        const opened = () => fake.requests.filter(({ path }) => path.endsWith("/events")).length, now = Date.now;
        let passed = 0;
        Date.now = () => now() + passed;
        const isLost = async (seconds, isSeen) => {
            const before = opened();
            passed += 1000 * seconds;
            await until(() => opened() > before || isSeen());
            return opened() > before;
        };
        const isStale = () => handle.state.state === "stale", isOpen = () => handle.state.state === "open";
        start();
        await until(isOpen);
        await isLost(61, () => false);
        await until(isOpen);
        if (await isLost(100, isStale)) return "lost before a heartbeat could be due";
        fake.write(":\\n\\n");
        await until(isOpen);
        if (await isLost(300, isStale)) return "lost before four heartbeats were due";
        await isLost(101, () => false);
        await until(isOpen);
        passed += 15_000;
        fake.write(":\\n\\n");
        fake.update(1, { n: "1" });
        await until(() => handle.rows.size === 1);
        await isLost(61, () => false);
    """),
    # The tab that reads the stream for the others has a dialog open: it tells nothing until its user has closed that.
    trial("a_tab_whose_hub_is_blocked_at_once_is_stale", """
        const after = setTimeout;
        window.setInterval = () => {};
        window.setTimeout = (run, time, ...rest) => after(run, time === 90_000 ? 500 : time, ...rest);
        start();
        await until(() => handle.state.state === "open");
        fake.update(1, { n: "1" });
        // A page may change its subscriptions meanwhile.
        await until(() => {
            gateway.subscribe(quotes).close();
            return handle.state.state === "stale";
        }, 3000);
    """),
    trial("a_tab_whose_hub_is_blocked_is_stale", """
        const { setTimeout: after, setInterval: every } = window;
        let isBlocked = false;
        window.setInterval = (run) => every(() => { if (!isBlocked) run(); }, 20);
        window.setTimeout = (run, time, ...rest) => after(run, time === 90_000 ? 300 : time, ...rest);
        start();
        await until(() => handle.state.state === "open");
        fake.update(1, { n: "1" });
        await until(() => handle.rows.size);
        await new Promise((resolve) => after(resolve, 1000));
        if (states.some(({ state }) => state === "stale")) return "stale without a reason";
        isBlocked = true;
        await until(() => handle.state.state === "stale");
        isBlocked = false;
        await until(() => handle.state.state === "open");
    """),
    # The SharedWorker of a former version, which tells only the beginning and the end of a silence.
    trial("a_tab_of_a_hub_that_tells_little_is_not_stale", """
        const { setTimeout: after } = window;
        window.setTimeout = (run, time, ...rest) => after(run, time === 90_000 ? 300 : time, ...rest);
        const user = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("null"))).join();
        const scope = `ls1:http://gateway.example:tabs:${user}`, inbox = new BroadcastChannel(`${scope}:hub`);
        navigator.locks.request(scope, () => new Promise(() => {}));
        let tab;
        const tell = (message) => tab.postMessage({ ...message, hub: "former" });
        const silent = (isSilent) => tell({ t: "conn", stream: "stream", conn: { state: "open", resume: "fresh", isSilent } });
        inbox.onmessage = ({ data }) => {
            if (data.t !== "hello") return;
            tab = new BroadcastChannel(`${scope}:${data.tab}`);
            tell({ t: "welcome", stream: "stream", conn: { state: "open", resume: "fresh" } });
            for (const { key } of data.subs) tell({ t: "info", key, info: { ...fake.state, source: "s1" } });
        };
        start({ share: "tabs" });
        await until(() => handle.state.state === "open");
        silent(true);
        await until(() => handle.state.state === "stale");
        silent(false);
        await until(() => handle.state.state === "open");
        await new Promise((resolve) => after(resolve, 1000));
        if (handle.state.state !== "open") return `${handle.state.state}: ${handle.state.reason}`;
    """),
    trial("a_stream_that_dies_after_a_sleep_of_the_machine_or_a_change_of_the_clock_is_lost", """
        const opened = () => fake.requests.filter(({ path }) => path.endsWith("/events")).length, now = Date.now;
        let passed = 0;
        Date.now = () => now() + passed;
        start();
        await until(() => handle.state.state === "open");
        for (const hours of [3, -3]) {
            passed += 3_600_000 * hours;
            // After the sleep, a heartbeat that was on its way comes before any timer.
            if (hours > 0) fake.write(":\\n\\n");
            await new Promise((resolve) => setTimeout(resolve, 1500));
            passed += 61_000;
            const before = opened();
            await until(() => opened() > before, 3000);
            await until(() => handle.state.state === "open");
            // The heartbeats are not rare.
            fake.write(":\\n\\n");
        }
    """),
    trial("a_request_that_is_too_large_for_a_proxy_is_divided", """
        fake.refuse = ({ data }) => (data?.sources ?? data?.add)?.length > 1 && new Response("Too large", { status: 413 });
        start();
        const other = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => handle.state.state === "open" && other.state.state === "open");
    """),
    # The proxy permits two sources in a request; the server has the same source for two of the subscriptions.
    trial("equal_sources_of_a_divided_request_have_their_own_rows", """
        const state = { client: "c", status: "CONNECTED:WS-STREAMING", active: true, subscribed: true, lastError: null };
        const event = (name, data, id) => `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`, sources = [];
        const states = (list) => [...new Set(list.map(({ items }) => items[0]))].map((subscription) => ({ ...state, subscription, mode: "MERGE" }));
        let isMade = false;
        fake.refuse = ({ method, path, data }) => {
            if ((data?.sources ?? data?.add)?.length > 2) return new Response("Too large", { status: 413 });
            if (method === "POST" && isMade) return fake.json(201, { id: "probe", sources: states(data.sources) });
            if (method === "POST" || method === "PATCH") {
                const list = states(data.sources ?? data.add ?? []);
                sources.push(...list.filter(({ subscription }) => !sources.some((other) => other.subscription === subscription)));
                isMade = true;
                return fake.json(200, { id: "stream", sources });
            }
            if (!path.endsWith("/events")) return null;
            const text = event("stream", { stream: "stream", sources, resume: "fresh" }, "") + sources.map(({ subscription }, index) => event("update",
                { subscription, client: "c", item: subscription, itemPos: 1, snapshot: true, fields: { n: subscription } }, `e-${index + 1}`)).join("");
            return new Response(new ReadableStream({ start(body) { body.enqueue(new TextEncoder().encode(text)); } }));
        };
        start();
        const others = [{ items: ["b"] }, { items: ["a"], requestedSnapshot: "yes" }, { items: ["c"] }].map((own) => gateway.subscribe({ ...quotes, ...own }));
        await until(() => [handle, ...others].every(({ rows }) => rows.size));
        const found = [handle, ...others].map(({ rows }) => [...rows.keys()].join());
        if (found.join() !== "a,b,a,c") return found.join();
    """),
    trial("a_change_without_an_answer_is_made_again", """
        const timeout = AbortSignal.timeout;
        AbortSignal.timeout = (time) => timeout.call(AbortSignal, time / 600);
        start();
        await until(() => handle.state.state === "open");
        let count = 0;
        fake.refuse = ({ method, signal }) => method === "PATCH" && ++count === 1
            && new Promise((resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        const other = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => other.state.state === "open");
    """),
    # MARK: Gateways and proxies
    trial("a_quota_is_asked_for_again", """
        const timer = setTimeout, full = new Set(["a", "b"]);
        // The long pauses pass a hundred times as fast.
        window.setTimeout = (work, time, ...values) => timer(work, time < 20_000 ? time : time / 100, ...values);
        fake.refuse = ({ data }) => (data?.sources ?? data?.add)?.some(({ items }) => full.has(items[0])) && fake.json(429, { code: "over-quota" });
        start();
        const other = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => [handle, other].every(({ state }) => state.state === "refused"));
        // Without a stream, and in an open one.
        full.delete("a");
        await until(() => handle.state.state === "open");
        if (other.state.state !== "refused") return other.state.state;
        full.delete("b");
        await until(() => other.state.state === "open");
        // A replica finds it after its response.
        fake.send("subscription-error", { subscription: `s${fake.serial}`, client: null, code: 1001, message: "The upstream has no room." });
        await until(() => other.state.state === "refused");
        await until(() => other.state.state === "open");
        if (handle.state.state !== "open") return handle.state.state;
    """),
    trial("retry_does_not_wait_for_the_next_change", """
        start();
        await until(() => handle.state.state === "open");
        let count = 0;
        fake.refuse = ({ method }) => method === "PATCH" && ++count === 1 && fake.json(503, { code: "unavailable" }, { "Retry-After": "60" });
        const other = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => count === 1);
        await new Promise((resolve) => setTimeout(resolve, 50));
        gateway.retry();
        await until(() => other.state.state === "open", 2000);
    """),
    trial("retry_asks_again_for_what_the_server_has_refused", """
        start();
        const other = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => handle.state.state === "open" && other.state.state === "open");
        fake.send("subscription-error", { subscription: `s${fake.serial}`, client: "c", code: 21, message: "Bad Item Group name" });
        await until(() => other.state.state === "refused");
        gateway.retry();
        await until(() => other.state.state === "open", 2000);
        if (handle.state.state !== "open") return handle.state.state;
    """),
    trial("an_equal_subscription_after_a_refusal_asks_again", """
        start();
        const wanted = { ...quotes, items: ["b"] }, other = gateway.subscribe(wanted);
        await until(() => handle.state.state === "open" && other.state.state === "open");
        fake.send("subscription-error", { subscription: `s${fake.serial}`, client: "c", code: 21, message: "Bad Item Group name" });
        await until(() => other.state.state === "refused");
        other.close();
        const again = gateway.subscribe(wanted);
        await until(() => again.state.state === "open", 5000);
    """),
    # MARK: Frameworks
    trial("rows_of_hooks_are_another_object_after_each_change", """
        const { hooks } = await import("/gateway-react.js");
        let store;
        const react = { useMemo: (make) => make(), useSyncExternalStore: (subscribe, get) => { store = { subscribe, get }; return get(); } };
        start();
        for (const mode of ["MERGE", "COMMAND", "DISTINCT"]) {
            hooks(react).useSubscription(gateway, { ...quotes, mode });
            let count = 0;
            store.subscribe(() => { count += 1; });
            await until(() => store.get().state.state === "open");
            const number = fake.serial, rows = [];
            for (const n of ["1", "2"]) {
                const before = count;
                fake.send("update", { subscription: `s${number}`, client: "c", item: "a", itemPos: 1, key: "k", command: "ADD", fields: { n } });
                await until(() => count > before);
                if (store.get() !== store.get()) return `${mode}: another value without a change`;
                rows.push(store.get().rows);
            }
            if (rows[0] === rows[1]) return `${mode}: the same rows`;
            const values = rows.map((of) => [...of.values()].at(-1)).map((row) => row.n ?? row.fields.n).join();
            if (values !== "1,2") return `${mode}: ${values}`;
        }
    """),
    trial("elements_of_the_page_wait_for_the_token_of_its_script", """
        fake.refuse = ({ token }) => token !== "key" && fake.json(401, { code: "unauthorized" });
        document.body.innerHTML = '<ls-value item="a" field="n" gateway="http://gateway.example"></ls-value>';
        const script = document.createElement("script");
        script.type = "module";
        script.textContent = `import { LsElement } from "/gateway-elements.js";
            import { connect } from "/gateway.js";
            LsElement.connection = (url) => connect(url, { share: "page", token: () => "key" });`;
        document.body.append(script);
        await until(() => fake.requests.some(({ path }) => path.endsWith("/events")));
        fake.update(1, { n: "7" });
        await until(() => document.querySelector("ls-value").shadowRoot.textContent === "7");
    """),
    trial("elements_may_be_hidden", """
        await import("/gateway-elements.js");
        document.body.innerHTML = '<ls-value hidden item="a" field="n" gateway="http://gateway.example"></ls-value><ls-table hidden></ls-table>';
        for (const element of document.body.children) if (element.checkVisibility()) return `${element.localName} is shown`;
        for (const element of document.body.children) element.hidden = false;
        if (![...document.body.children].every((element) => element.checkVisibility())) return "hidden for good";
    """),
    trial("elements_whose_gateway_has_no_address_have_no_rows", """
        const { LsElement } = await import("/gateway-elements.js"), reported = [];
        addEventListener("error", (event) => {
            event.preventDefault();
            reported.push(event.message);
        });
        LsElement.connection = (url) => connect(url, { share: "page" });
        const source = 'items="a" item="a" fields="n" field="n" gateway="http://gateway.example"';
        document.body.innerHTML = `<ls-table ${source}></ls-table><ls-value ${source}></ls-value>`;
        const [table, value] = [...document.body.children].map(({ shadowRoot }) => shadowRoot);
        await until(() => fake.requests.some(({ path }) => path.endsWith("/events")));
        fake.update(1, { n: "7" });
        await until(() => table.querySelector("td")?.textContent === "7" && value.textContent === "7");
        for (const element of document.body.children) element.setAttribute("gateway", "http://");
        await until(() => reported.length === 2);
        const shown = [...table.querySelectorAll("td")].map(({ textContent }) => textContent), told = table.querySelector(".problem").textContent;
        if (shown.length || !told.startsWith("No gateway at http://: ")) return `${shown} ${told}`;
        if (value.textContent !== "✕" || !value.firstChild.title.includes("No gateway at")) return value.innerHTML;
        for (const element of document.body.children) element.setAttribute("gateway", "http://gateway.example");
        await until(() => table.querySelector("table").dataset.state === "open" && value.firstChild.dataset.state === "open");
        if (table.querySelector(".problem").textContent) return table.querySelector(".problem").textContent;
    """),
    trial("elements_that_are_moved_or_have_another_caption_keep_their_rows", """
        const { LsElement } = await import("/gateway-elements.js");
        start();
        let made = 0;
        LsElement.connection = () => ({ subscribe: (...all) => {
            made += 1;
            return window.own = gateway.subscribe(...all);
        } });
        document.body.innerHTML = '<main></main><ls-table items="b" fields="n" caption="A" gateway="x"></ls-table>';
        const [main, table] = document.body.children, { shadowRoot } = table;
        await until(() => fake.requests.some(({ path }) => path.endsWith("/events")));
        fake.update(2, { n: "7" });
        await until(() => shadowRoot.querySelector("td"));
        const cell = shadowRoot.querySelector("td");
        for (const change of [() => table.setAttribute("caption", "B"), () => table.setAttribute("items", "b"), () => main.append(table)]) {
            change();
            for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
            if (made !== 1 || !cell.isConnected) return `${made} subscriptions after ${change}`;
        }
        if (shadowRoot.querySelector("caption").textContent !== "B") return "another caption";
        const first = own;
        table.setAttribute("items", "c");
        await until(() => made === 2);
        if (!first.isClosed) return "the former subscription is open";
        table.remove();
        await until(() => own.isClosed);
    """),
    # As in the window of a picture in picture, whose page may be hidden: it has no frames then.
    trial("elements_of_another_window_have_their_styles_and_frames", """
        const { LsElement } = await import("/gateway-elements.js");
        LsElement.connection = (url) => connect(url, { share: "page" });
        document.body.innerHTML = '<iframe></iframe><ls-table items="a" fields="n" gateway="http://gateway.example"></ls-table>';
        const [frame, table] = document.body.children, root = table.shadowRoot;
        const places = [frame.contentDocument, document, document.implementation.createHTMLDocument(""), frame.contentDocument];
        await until(() => fake.requests.some(({ path }) => path.endsWith("/events")));
        for (const place of places) {
            window.requestAnimationFrame = place === document ? (run) => setTimeout(run) : () => 1;
            fake.update(1, { n: `0${places.indexOf(place)}` });
            place.body.append(table);
            if (!place.defaultView) continue;
            const styled = place.defaultView.getComputedStyle(root.querySelector("table")).borderCollapse;
            if (styled !== "collapse") return `${places.indexOf(place)}: ${styled}`;
            const text = `${places.indexOf(place)}`;
            fake.update(1, { n: text });
            await until(() => root.querySelector("td")?.textContent === text);
        }
    """),
    trial("a_table_announces_a_state_once", """
        await import("/gateway-elements.js");
        const table = document.createElement("ls-table");
        const draw = (attempt) => {
            const state = { state: "reconnecting", reason: "No.", attempt };
            table.draw({ table: { rows: new Map() }, spec: {}, info: {}, state });
            return table.shadowRoot.querySelector("[role=status]").firstChild;
        };
        if (draw(1) !== draw(2)) return "it is another text";
    """),
    trial("a_table_tells_a_cure_once", """
        await import("/gateway-elements.js");
        const table = document.createElement("ls-table");
        const told = (reason, problem) => {
            table.draw({ table: { rows: new Map() }, spec: {}, info: {}, state: { state: "refused", reason, problem } });
            return table.shadowRoot.querySelector(".problem").textContent;
        };
        const found = [told("No. Ask.", { cure: "Ask." }), told("No.", { cure: "Ask." }), told("n: No.", { cure: "Read.", errors: [{}] }), told("No.", {})];
        if (found.join("|") !== "No. Ask.|No. Ask.|n: No.|No.") return found.join("|");
    """),
    trial("a_value_is_that_of_the_newest_event_of_a_list", """
        const { LsElement } = await import("/gateway-elements.js"), { hooks } = await import("/gateway-react.js");
        start();
        LsElement.connection = () => gateway;
        document.body.innerHTML = '<ls-value mode="DISTINCT" item="a" field="n" gateway="x"></ls-value>';
        const value = document.querySelector("ls-value").shadowRoot;
        const useSyncExternalStore = (subscribe, get) => {
            subscribe(() => {});
            return get;
        };
        const get = hooks({ useMemo: (make) => make(), useSyncExternalStore }).useValue(gateway, { mode: "DISTINCT", item: "a", field: "n" });
        if (get() !== undefined) return `at first ${get()}`;
        await until(() => fake.requests.some(({ path }) => path.endsWith("/events")));
        fake.update(2, { n: "1" });
        fake.update(2, { n: "2" });
        await until(() => value.textContent === "2" && get() === "2");
    """),
    # Its address has no origin, but the page has: that of its parent.
    trial("a_page_in_an_attribute_has_the_origin_of_its_parent", """
        const frame = document.createElement("iframe");
        frame.srcdoc = `<script type="module">import { connect } from "${location.origin}/gateway.js"; parent.found = connect().url;</script>`;
        document.body.append(frame);
        await until(() => window.found);
        if (found !== location.origin) return found;
    """),
    # A bundle of the application has one copy, a gateway another one.
    trial("copies_of_the_elements_are_one", """
        const [first, second] = [await import("/gateway-elements.js?copy=1"), await import("/gateway-elements.js?copy=2")];
        if (first.LsElement !== second.LsElement) return "two classes";
        second.LsElement.connection = (url) => connect(url, { share: "page" });
        document.body.innerHTML = '<ls-value item="a" field="n" gateway="http://gateway.example"></ls-value>';
        await until(() => fake.requests.some(({ path }) => path.endsWith("/events")));
        fake.update(1, { n: "7" });
        await until(() => document.querySelector("ls-value").shadowRoot.textContent === "7");
    """),
]


def main(_=None):
    perform(CHECKS, f"module: {len(CHECKS)} checks with a gateway in the page")


if __name__ == "__main__":
    gateway.script("module", main)
