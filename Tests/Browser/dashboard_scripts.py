"""Scripts of the dashboard alone: what a page that is open for days keeps and requests. The page has a gateway of its own.

    python dashboard_scripts.py

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import gateway
from module_pages import perform, trial
from pages import RESOURCES, Assets

# The dashboard with the gateway of the page; `lists` has what the gateway responds to its own requests, by path.
DASHBOARD = """
    const file = new XMLHttpRequest();
    file.open("GET", "/index.html", false);
    file.send();
    document.body.innerHTML = new DOMParser().parseFromString(file.responseText, "text/html").body.innerHTML;
    window.SharedWorker = undefined;
    const gateway = window.fetch, lists = {};
    window.fetch = async (url, options) => {
        if (!String(url).startsWith("/")) return gateway(url, options);
        const path = url.split("?")[0];
        return lists[path]?.status ? fake.json(lists[path].status, lists[path]) : fake.json(path in lists ? 200 : 404, lists[path] ?? {});
    };
"""

# A page that reads its stream, and whose clock can be set ahead by `passed` milliseconds.
READING = DASHBOARD + """
    const now = Date.now, badge = document.getElementById("status");
    let passed = 0;
    Date.now = () => now() + passed;
    lists["/v1/upstreams"] = { upstreams: [{ name: "u", adapterSet: "DEMO" }], nextCursor: null };
    await import("/assets/app.js");
    await until(() => fake.requests.some(({ path }) => path.endsWith("/events")));
    fake.update(1, { last_price: "7.1" });
"""

CHECKS = [
    trial("a_view_that_is_shown_again_has_one_sequence_of_reads", """
        const { whileShown } = await import("/assets/dom.js");
        const ends = [];
        const show = whileShown(() => new Promise((resolve) => { ends.push(resolve); }), 10);
        for (let count = 1; count <= 3; count += 1) {
            show(true);
            await until(() => ends.length === count);
        }
        ends.splice(0).forEach((end) => end());
        await until(() => ends.length);
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (ends.length !== 1) return `${ends.length} sequences of reads`;
        show(false);
        ends.splice(0).forEach((end) => end());
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (ends.length) return "a hidden view is read";
    """),
    trial("the_history_of_many_rows_is_bounded", """
        const { Feed } = await import("/assets/feed.js");
        const feed = new Feed("f", "F", { mode: "MERGE", fields: ["n", "m"] });
        for (let number = 0; number < 400_000; number += 1) {
            feed.apply("update", { item: `i${number % 2000}`, itemPos: 1, fields: { n: `${number}`, m: `${number}` } });
        }
        let count = 0;
        for (const row of feed.rows.values()) for (const { times, values } of row.history.values()) {
            if (times.length !== values.length || times.length < 100) return `${times.length} times, ${values.length} values`;
            count += times.length;
        }
        if (count > 600_000) return `${count} values`;
    """),
    # They were shown as functions and objects.
    trial("fields_with_the_names_of_members_of_objects_have_values", """
        const { Feed } = await import("/assets/feed.js"), { TableView } = await import("/assets/table.js");
        const feed = new Feed("f", "F", { ...quotes, fields: ["constructor", "__proto__", "valueOf"] }), view = new TableView(feed);
        feed.apply("update", { item: "a", itemPos: 1, snapshot: false, fields: JSON.parse('{"__proto__":"1","valueOf":null}') });
        view.draw();
        const seen = [...view.element.querySelectorAll("td[data-field] .value")].map(({ textContent }) => textContent).join();
        if (seen !== ",1,") return seen;
    """),
    # Hundreds of animations at a time stopped the page.
    trial("changes_of_very_many_cells_are_not_animated", """
        Object.defineProperty(document, "hidden", { value: false });
        const { Feed } = await import("/assets/feed.js"), { TableView } = await import("/assets/table.js");
        for (const [count, isAnimated] of [[50, true], [90, false]]) {
            const feed = new Feed("f", "F", { upstream: "u", mode: "MERGE", items: [], fields: ["n", "m"] }), view = new TableView(feed);
            document.body.replaceChildren(view.element);
            for (const n of ["1", "2"]) {
                for (let number = 1; number <= count; number += 1) feed.apply("update", { item: `i${number}`, itemPos: number, fields: { n, m: n } });
                view.draw();
            }
            const cells = view.element.querySelectorAll("td[data-field]"), moves = [...cells].filter((cell) => cell.getAnimations().length);
            if (cells.length !== 2 * count || moves.length !== (isAnimated ? 2 * count : 0)) return `${moves.length} of ${cells.length} cells are animated`;
        }
    """),
    # The tab stayed empty, and was not read again.
    trial("a_feed_of_any_items_is_shown_beside_others", """
        const feed = { name: "any", title: null, description: null, upstream: "u", dataAdapter: null, mode: "MERGE", selector: null, public: true,
            items: null, fields: [{ name: "n", type: "number", unit: null, description: null }], url: "/feeds/any" };
        const few = { ...feed, name: "few", items: [{ pattern: "a{8…10}", description: null }], url: "/feeds/few" };
        const feeds = [feed, few, { ...few, name: "many", items: [...few.items, { pattern: "a{11…200}", description: null }] }];
        const bodies = { "/v1/feeds": { feeds, nextCursor: null }, "/v1/subscriptions": { subscriptions: [], nextCursor: null } };
        window.fetch = async (url) => fake.json(200, bodies[url.split("?")[0]]);
        const { Catalog } = await import("/assets/catalog.js");
        const element = document.body.appendChild(document.createElement("div")), opened = [];
        await new Catalog(element, document.createElement("p"), ({ items }) => opened.push(items.join())).read();
        element.querySelectorAll(".feed button").forEach((button) => button.click());
        if (!element.textContent.includes("/feeds/any/{item}")) return element.textContent;
        if (opened.length !== 2 || opened[0] !== "a8,a9,a10" || opened[1].split(",").length !== 100) return JSON.stringify(opened);
        // A table of a part says so.
        const buttons = [...element.querySelectorAll(".feed button")].map(({ textContent }) => textContent).join();
        if (buttons !== "Open few,Open the first 100 items many") return buttons;
    """),
    # Another subscription, of all updates, was opened for a feed with a frequency.
    trial("a_feed_is_opened_with_its_snapshot_and_frequency", """
        const feed = { name: "f", title: null, description: null, upstream: "u", dataAdapter: "d", mode: "MERGE", selector: null,
            requestedSnapshot: "no", requestedMaxFrequency: 2, public: false, items: [{ pattern: "a", description: null }],
            fields: [{ name: "n", type: "number", unit: null, description: null }], url: "/feeds/f" };
        window.fetch = async () => fake.json(200, { feeds: [feed], subscriptions: [], nextCursor: null });
        const { rights } = await import("/assets/rights.js"), { Catalog } = await import("/assets/catalog.js");
        rights.session = { operations: ["read", "subscribe"] };
        const element = document.body.appendChild(document.createElement("div")), opened = [];
        await new Catalog(element, document.createElement("p"), (spec) => opened.push(JSON.stringify(spec))).read();
        element.querySelector(".feed button").click();
        const wanted = { upstream: "u", mode: "MERGE", items: ["a"], fields: ["n"], dataAdapter: "d", requestedSnapshot: "no", requestedMaxFrequency: 2 };
        if (opened.join() !== JSON.stringify(wanted)) return opened.join();
    """),
    # The tab told that the gateway describes no feeds.
    trial("feeds_stay_while_the_gateway_does_not_answer", """
        const feed = { name: "few", title: null, description: null, upstream: "u", dataAdapter: null, mode: "MERGE", selector: null, public: true,
            items: [{ pattern: "a", description: null }], fields: [], url: "/feeds/few" };
        let answer = () => fake.json(200, { feeds: [feed], subscriptions: [], nextCursor: null });
        window.fetch = async () => answer();
        const { Catalog } = await import("/assets/catalog.js");
        const element = document.body.appendChild(document.createElement("div")), catalog = new Catalog(element, document.createElement("p"));
        const look = async (text) => {
            await catalog.read();
            return element.querySelector(".feed")?.textContent.includes("/feeds/few") && element.textContent.includes(text);
        };
        if (!await look("")) return "no feed";
        answer = () => { throw new TypeError("Failed to fetch"); };
        if (!await look("The gateway does not answer.")) return element.textContent;
        answer = () => fake.json(503, { detail: "Too many requests." });
        if (!await look("Too many requests.")) return element.textContent;
    """),
    # After a reload there was no page: the gateway refuses request lines of 16 KiB.
    trial("a_long_layout_is_no_part_of_the_request", """
        const { layoutOf, urlOf } = await import("/assets/layout.js");
        const items = Array.from({ length: 100 }, (_, index) => `EXCHANGE.INSTRUMENT.${index}?#`), chart = [["EXCHANGE.INSTRUMENT.1?#", "n"]];
        for (const count of [1, 2, 5]) {
            const specs = Array.from({ length: count }, (_, index) => ({ upstream: "u", mode: "MERGE", items, fields: [`n${index}`] }));
            const url = new URL(urlOf({ specs, key: "own-2", row: "r", chart }), location), found = layoutOf(url);
            if (count > 1 && url.search) return `${url.search.length} characters in the query`;
            if (JSON.stringify(found) !== JSON.stringify({ specs, key: "own-2", row: "r", chart })) return JSON.stringify(found);
        }
    """),
    # The tab had another subscription, without the limits; that of a client by address was one of an upstream.
    trial("a_subscription_in_use_is_shown_as_it_is", """
        const { specOfResource } = await import("/assets/subscriptions.js"), { layoutOf, urlOf } = await import("/assets/layout.js");
        const resource = { upstream: "u", mode: "MERGE", items: ["a"], itemGroup: null, fields: ["n"], fieldSchema: null, dataAdapter: null, selector: null,
            requestedSnapshot: "no", requestedMaxFrequency: 2, requestedBufferSize: 5, commandSecondLevelFields: null,
            commandSecondLevelFieldSchema: null, commandSecondLevelDataAdapter: null };
        const wanted = { upstream: "u", mode: "MERGE", items: ["a"], fields: ["n"], requestedSnapshot: "no", requestedMaxFrequency: 2, requestedBufferSize: 5 };
        const spec = specOfResource(resource), [read] = layoutOf(new URL(urlOf({ specs: [spec], key: "own-1" }), "http://gateway.example")).specs;
        for (const [name, value] of Object.entries(wanted)) {
            for (const found of [spec, read]) if (`${found[name]}` !== `${value}`) return `${name}: ${found[name]}`;
        }
        if (specOfResource({ ...resource, upstream: null })) return "a subscription by address can be shown";
    """),
    # Another reader has the subscription already: the columns were 1, 2, 3 and 4 beside empty ones.
    trial("a_subscription_that_is_joined_has_the_names_of_its_fields", """
        const { Feed } = await import("/assets/feed.js"), { TableView } = await import("/assets/table.js");
        const spec = { upstream: "u", mode: "COMMAND", items: ["a"], fields: ["key", "command", "n"], commandSecondLevelFields: ["n"] };
        const feed = new Feed("f", "F", spec), view = new TableView(feed);
        feed.sourceState({ ...fake.state, fieldKeys: "position", fieldCount: 3 }, "fresh");
        feed.apply("update", { item: "a", itemPos: 1, key: "k", command: "ADD", snapshot: true, fields: { 1: "k", 2: "ADD", 3: "4", 4: "5" } });
        view.draw();
        const row = [...view.element.querySelectorAll("tbody tr > *")].map((cell) => cell.textContent).slice(0, 3).join();
        if (feed.columns.join() !== "n,n (2)" || row !== "k,4,5") return `${feed.columns}: ${row}`;
    """),
    trial("a_chart_of_large_numbers_ends", """
        const { Chart } = await import("/assets/chart.js");
        const canvas = document.body.appendChild(document.createElement("canvas"));
        canvas.style.cssText = "width: 400px; height: 300px";
        const times = [Date.now() - 5000, Date.now()];
        new Chart(canvas).show([{ series: { times, values: [999999999999999, 999999999999999.1], decimals: 1 }, label: "a" }]);
    """),
    # Values of hours ago were "now", and old values had their last update "just now".
    trial("a_snapshot_has_no_age", """
        const { Feed } = await import("/assets/feed.js"), { TableView } = await import("/assets/table.js"), { age } = await import("/assets/status.js");
        const feed = new Feed("f", "F", quotes), view = new TableView(feed);
        let now = Date.now();
        Date.now = () => now;
        const update = (n, snapshot) => feed.apply("update", { item: "a", itemPos: 1, snapshot, fields: { n } });
        const look = (seconds) => {
            now += seconds * 1000;
            view.draw();
            view.drawSlowly();
            return `${view.element.querySelector(".age").textContent}, ${age("open", feed, false).text}`;
        };
        const seen = [];
        feed.sourceState({ ...fake.state, status: "DISCONNECTED:WILL-RETRY" }, "fresh");
        update("1", true);
        seen.push(look(0), look(5));
        feed.status = fake.state.status;
        update("2", false);
        seen.push(look(0), look(5));
        // Of the snapshot after a gap, only what differs has changed since.
        feed.sourceState(fake.state, "gap");
        update("2", true);
        seen.push(look(5));
        update("3", true);
        seen.push(look(5));
        const wanted = ["–, values are old: no update yet", "over 5 s, values are old: no update for 5 s", "now, last update just now", "5 s, last update 5 s ago",
            "10 s, no update for 5 s", "over 5 s, no update for 5 s"];
        if (seen.join() !== wanted.join()) return seen.join(" | ");
    """),
    # With another key that has no right to them, the values of the former one looked current.
    trial("values_of_a_refused_subscription_are_old", """
        const { Feed } = await import("/assets/feed.js"), { age } = await import("/assets/status.js"), { ProblemError } = await import("/assets/api.js");
        const feed = new Feed("f", "F", quotes);
        feed.sourceState(fake.state, "fresh");
        feed.apply("update", { item: "a", itemPos: 1, snapshot: false, fields: { n: "1" } });
        if (age("open", feed, false).isStale) return "old before the refusal";
        feed.refuse(new ProblemError(403, { code: "forbidden", detail: "No." }));
        if (!age("open", feed, false).isStale) return age("open", feed, false).text;
    """),
    # Hours later, a loss for another reason was one of the last interruption.
    trial("an_interruption_has_its_own_losses", """
        const { RecoveryTimeline } = await import("/assets/recovery.js");
        let now = 0;
        performance.now = () => now;
        const timeline = new RecoveryTimeline(), line = () => timeline.element.querySelector("li").textContent.split(" → ").at(-1);
        const lose = (count, by, client) => timeline.take("lost-updates", { count, by, client });
        for (const client of ["c", "d"]) timeline.take("status", { client, status: "CONNECTED:WS-STREAMING" });
        timeline.take("status", { client: "c", status: "DISCONNECTED:TRYING-RECOVERY" });
        now = 3000;
        lose(8, "server", "d");
        timeline.take("status", { client: "c", status: "CONNECTED:WS-STREAMING" });
        now = 4000;
        lose(2, "server", "c");
        lose(4, "gateway", "c");
        now = 3_600_000;
        lose(1, "server", "c");
        if (line() !== "lost 2 updates") return line();
    """),
    # As of a server with several sessions whose host was away; only the losses of the session that recovered last counted.
    trial("sessions_that_recover_together_have_their_own_losses", """
        const { RecoveryTimeline } = await import("/assets/recovery.js");
        const timeline = new RecoveryTimeline();
        for (const status of ["CONNECTED:WS-STREAMING", "DISCONNECTED:TRYING-RECOVERY", "CONNECTED:WS-STREAMING"]) {
            for (const client of ["c", "d"]) timeline.take("status", { client, status });
        }
        timeline.take("lost-updates", { count: 2, by: "server", client: "c" });
        timeline.take("lost-updates", { count: 3, by: "server", client: "d" });
        const losses = [...timeline.element.querySelectorAll("li")].map((line) => line.textContent.split(" → ").at(-1));
        if (losses.join() !== "lost 3 updates,lost 2 updates") return losses.join();
    """),
    # Lines at halves had the labels of whole numbers, and all lines of large numbers the same one.
    trial("labels_of_a_chart_are_those_of_their_lines", """
        const { Chart } = await import("/assets/chart.js");
        const canvas = document.body.appendChild(document.createElement("canvas")), { fillText } = CanvasRenderingContext2D.prototype;
        canvas.style.cssText = "width: 400px; height: 600px";
        let labels;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            if (!text.includes(":")) labels.push([text, Number(text), y]);
            fillText.call(this, text, x, y);
        };
        for (const [values, decimals, least] of [[[0, 0], 0, 2], [[1, 2], 0, 0], [[5, 5], 2, 3], [[0.1, 0.3], 1, 2], [[25_000_000, 25_000_010], 0, 3]]) {
            labels = [];
            new Chart(canvas).show([{ series: { times: [Date.now() - 5000, Date.now()], values, decimals }, label: "a" }]);
            // The last one is the value.
            const lines = labels.slice(0, -1), steps = lines.slice(1).map(([, value, y], index) => (value - lines[index][1]) / (lines[index][2] - y));
            if (lines.length < least || steps.some((step) => !(step > 0 && Math.abs(step / steps[0] - 1) < 0.1))) return JSON.stringify([values, labels]);
        }
    """),
    trial("a_stream_that_is_discarded_is_not_open", """
        window.SharedWorker = undefined;
        const { LiveStream } = await import("/assets/stream.js");
        const { Feed } = await import("/assets/feed.js");
        const stream = new LiveStream(), seen = [];
        stream.addEventListener("state", ({ detail }) => seen.push(detail.state));
        fake.refuse = ({ method }) => method === "POST" && fake.json(401, { code: "unauthorized" });
        stream.join(new Feed("f", "F", quotes));
        await until(() => seen.at(-1) === "refused");
        stream.restart();
        await until(() => seen.filter((state) => state === "refused").length > 1);
        if (seen.includes("open")) return seen.join();
    """),
    # The new key has the rights; another reader has the subscription already, so that no event tells that it began.
    trial("a_refusal_of_the_gateway_ends_with_the_next_stream", """
        window.SharedWorker = undefined;
        const { LiveStream } = await import("/assets/stream.js");
        const { Feed } = await import("/assets/feed.js");
        const stream = new LiveStream(), feed = new Feed("f", "F", quotes);
        fake.refuse = ({ method }) => method === "POST" && fake.json(403, { code: "forbidden", title: "Forbidden" });
        stream.join(feed);
        await until(() => feed.error?.step === "gateway");
        fake.refuse = () => null;
        stream.restart();
        await until(() => feed.isSubscribed);
        fake.update(1, { n: "1" });
        await until(() => feed.hasValue);
        if (feed.error) return JSON.stringify(feed.error);
    """),
    # The gateway has refused one of them; the session of the other one is refused by the server.
    trial("an_error_of_a_client_concerns_no_subscription_without_one", """
        window.SharedWorker = undefined;
        const { LiveStream } = await import("/assets/stream.js");
        const { Feed } = await import("/assets/feed.js");
        const errors = [{ pointer: "/add/0/upstream", detail: "There is none." }];
        fake.refuse = ({ method }) => method === "PATCH" && fake.json(422, { code: "unknown-upstream", errors });
        const stream = new LiveStream(), feed = new Feed("f", "F", quotes), refused = new Feed("r", "R", { ...quotes, upstream: "none" });
        stream.join(feed);
        await until(() => feed.isSubscribed);
        stream.join(refused);
        await until(() => refused.error?.step === "gateway");
        fake.send("server-error", { client: "c", code: 8, message: "Too many sessions" });
        await until(() => feed.error);
        if (refused.error.step !== "gateway" || refused.client) return JSON.stringify([refused.error, refused.client]);
    """),
    trial("a_dialog_that_was_closed_is_not_opened_by_later_readings", """
        document.body.innerHTML = `<button id="key"></button><button id="reconnect"></button><dialog id="key-dialog"><form id="key-form"><p id="key-reason"></p>
            <input id="key-input"><button type="button" id="key-cancel"></button><button type="button" id="key-forget"></button></form></dialog>`;
        const { access, setKey } = await import("/assets/api.js");
        const { connectKeyDialog } = await import("/assets/key.js");
        const dialog = document.getElementById("key-dialog");
        const refuse = () => access.dispatchEvent(new CustomEvent("needed", { detail: { wasKey: true } }));
        connectKeyDialog();
        refuse();
        if (!dialog.open) return "the first refusal does not open the dialog";
        document.getElementById("key-cancel").click();
        refuse();
        if (dialog.open) return "a refusal opens the dialog that the user has closed";
        document.getElementById("key").click();
        document.getElementById("key-input").value = "another";
        document.getElementById("key-form").requestSubmit();
        refuse();
        if (!dialog.open) return "a refusal of another key does not open the dialog";
    """),
    # The browser sends no request with it: the page said that the gateway does not answer, again and again.
    trial("a_key_that_no_header_can_have_is_refused", """
        document.body.innerHTML = `<button id="key"></button><button id="reconnect"></button><dialog id="key-dialog"><form id="key-form"><p id="key-reason"></p>
            <input id="key-input"><button type="button" id="key-cancel"></button><button type="button" id="key-forget"></button></form></dialog>`;
        const { keyText } = await import("/assets/api.js"), { connectKeyDialog } = await import("/assets/key.js");
        const dialog = document.getElementById("key-dialog"), input = document.getElementById("key-input");
        connectKeyDialog();
        document.getElementById("key").click();
        for (const [text, isKey] of [["lsg_a\u200bb", false], ["lsg_a…", false], ["Bearer lsg_a", false], [" lsg_a ", true]]) {
            input.value = text;
            document.getElementById("key-form").requestSubmit();
            if (dialog.open === isKey || keyText() !== (isKey ? text.trim() : null)) return `${text}: ${keyText()}`;
            if (!isKey && !document.getElementById("key-reason").textContent.includes("ASCII")) return `${text}: no reason`;
        }
    """),
    trial("keys_of_the_browser_are_not_taken", """
        const { Chart } = await import("/assets/chart.js");
        const { Tabs } = await import("/assets/tabs.js");
        const canvas = document.body.appendChild(document.createElement("canvas"));
        new Chart(canvas);
        const list = document.body.appendChild(document.createElement("div")), panel = document.createElement("p");
        const tabs = new Tabs(list);
        for (const key of ["one", "two"]) tabs.add(key, key, panel);
        tabs.select("one");
        list.firstChild.focus();
        const isTaken = (element, key, modifiers) =>
            !element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...modifiers }));
        for (const [element, key, modifiers] of [
            [canvas, "-", { ctrlKey: true }], [canvas, "=", { metaKey: true }], [canvas, "ArrowLeft", { altKey: true }],
            [list.firstChild, "ArrowLeft", { altKey: true }], [list.firstChild, "ArrowRight", { metaKey: true }],
        ]) if (isTaken(element, key, modifiers)) return `${JSON.stringify(modifiers)} ${key}`;
        if (!isTaken(canvas, "-") || !isTaken(list.firstChild, "ArrowRight")) return "keys without effect";
    """),
    trial("many_rows_are_added_with_one_layout", """
        const { Feed } = await import("/assets/feed.js");
        const { TableView } = await import("/assets/table.js");
        const feed = new Feed("f", "F", quotes), view = new TableView(feed);
        document.body.append(view.element);
        let count = 0;
        const { get } = Object.getOwnPropertyDescriptor(Element.prototype, "scrollHeight");
        Object.defineProperty(view.element, "scrollHeight", { get() { count += 1; return get.call(this); } });
        for (let number = 0; number < 300; number += 1) feed.apply("update", { item: `i${number}`, itemPos: 1, fields: { n: `${number}` } });
        view.draw();
        if (count > 1) return `${count} layouts`;
    """),
    # Each change had the browser lay out thousands of lines, and the page stopped.
    trial("a_long_table_has_lines_for_the_rows_in_view", """
        const { Feed } = await import("/assets/feed.js"), { TableView } = await import("/assets/table.js");
        const feed = new Feed("f", "F", { ...quotes, mode: "COMMAND", fields: ["key", "command", "n"] }), view = new TableView(feed);
        document.body.append(view.element);
        view.element.style.cssText = "height: 400px; overflow: auto";
        const apply = (number, command) => feed.apply("update",
            { item: "a", itemPos: 1, key: `${number}`, command, fields: { key: `${number}`, command, n: `${10_000 - number}` } });
        const shown = () => {
            const { top, bottom } = view.element.getBoundingClientRect(), lines = [...view.element.querySelectorAll("tbody tr:not(.leaving)")];
            const isInView = (line) => line.getBoundingClientRect().bottom > top && line.getBoundingClientRect().top < bottom;
            return { count: lines.length, rows: lines.filter(isInView).map((line) => [line.dataset.row, line.ariaRowIndex - 2]) };
        };
        for (let number = 0; number < 5000; number += 1) apply(number, "ADD");
        view.draw();
        const first = shown(), height = view.element.scrollHeight;
        if (first.count > 200 || first.rows[0].join() !== "0,0") return JSON.stringify(first);
        if (view.element.querySelector("table").ariaRowCount !== "5001") return view.element.querySelector("table").ariaRowCount;
        view.element.scrollTop = height / 2;
        await until(() => shown().rows.length >= first.rows.length);
        const middle = shown();
        if (middle.count > 200 || middle.rows.some(([key, place]) => +key !== place) || Math.abs(middle.rows[0][1] - 2500) > 5) return JSON.stringify(middle);
        view.print(true);
        if (shown().count !== 5000 || view.element.scrollHeight < height) return `${shown().count} rows are printed`;
        view.print(false);
        if (shown().count > 200 || Math.abs(shown().rows[0][1] - 2500) > 5) return JSON.stringify(shown());
        for (let number = 0; number < 1000; number += 1) apply(number, "DELETE");
        view.draw();
        if (Math.abs(view.element.scrollHeight / height - 0.8) > 0.02) return `${view.element.scrollHeight} of ${height}`;
        view.element.querySelector("[data-column=n] button").click();
        view.element.scrollTop = 0;
        await until(() => shown().rows[0]?.join() === "4999,0" || shown().rows[1]?.join() === "4999,0");
        if (shown().count > 200) return JSON.stringify(shown());
    """),
    # `localeCompare` makes a collator for each comparison: 5,000 texts took ten times as long, every second.
    trial("rows_are_sorted_with_one_collator", """
        const { Feed } = await import("/assets/feed.js"), { TableView } = await import("/assets/table.js");
        const feed = new Feed("f", "F", quotes), view = new TableView(feed), values = ["b10", "10", null, "b9", "9.5", "", "a"];
        document.body.append(view.element);
        values.forEach((n, index) => feed.apply("update", { item: `i${index}`, itemPos: 1, fields: { n } }));
        view.draw();
        String.prototype.localeCompare = () => { throw new Error("a collator for each comparison"); };
        const shown = () => [...view.element.querySelectorAll("td[data-field=n] .value")].map(({ textContent }) => textContent).join();
        view.element.querySelector("[data-column=n] button").click();
        if (shown() !== ",,9.5,10,a,b9,b10") return shown();
        view.element.querySelector("[data-column=n] button").click();
        if (shown() !== "b10,b9,a,10,9.5,,") return shown();
    """),
    # Until it was as late again, rows were not sorted, and the chart was empty; a rate was a thousand times as high.
    trial("a_clock_that_is_set_back_stops_nothing", """
        const { Feed } = await import("/assets/feed.js"), { TableView } = await import("/assets/table.js");
        const { Metrics } = await import("/assets/metrics.js"), { now } = Date;
        const feed = new Feed("f", "F", quotes), view = new TableView(feed), metrics = new Metrics();
        const update = (item, n) => {
            feed.apply("update", { item, itemPos: 1, fields: { n } });
            view.draw();
        };
        let count = 0;
        window.fetch = async () => new Response(`lightstreamer_gateway_upstream_updates_total ${count += 10}`);
        document.body.append(view.element);
        for (const [item, n] of [["a", "2"], ["a", "3"], ["b", "4"]]) update(item, n);
        view.element.querySelector("[data-column=n] button").click();
        await metrics.read();
        Date.now = () => now() - 3_600_000;
        await metrics.read();
        if (metrics.figures.updateRate !== null) return `${metrics.figures.updateRate} updates a second`;
        update("a", "5");
        await until(() => { update("b", "4"); return view.element.querySelector("tbody tr").dataset.row === "b"; }, 3000);
        const { times, values } = feed.rows.get("a").history.get("n");
        if (values.join() !== "5" || times[0] > Date.now()) return JSON.stringify([times, values]);
    """),
    # Six pages without a shared stream: the browser has no connection for the other requests, and the page said that it is stale.
    # Held values had their last update "just now", for hours.
    trial("values_that_are_held_become_stale", READING + """
        const panel = () => document.querySelector(".panel:not([hidden])");
        await until(() => badge.dataset.word === "connected" && panel().textContent.includes("7.1"));
        document.getElementById("pause").click();
        fake.update(1, { last_price: "7.2" });
        await until(() => document.getElementById("pause").textContent === "Resume (1 held)");
        passed = 20_000;
        fake.send("status", { client: "c", status: "DISCONNECTED:WILL-RETRY" });
        await until(() => panel().classList.contains("stale") && /values are old: last update 2. s ago/.test(panel().textContent));
        if (panel().textContent.includes("7.2")) return "the value is not held";
    """),
    trial("a_subscription_that_is_ended_reduces_no_held_values", READING + """
        const pause = document.getElementById("pause"), form = document.getElementById("subscribe-form");
        await until(() => badge.dataset.word === "connected");
        form.elements.items.value = "a";
        form.elements.fields.value = "n";
        form.requestSubmit();
        await until(() => fake.serial === 2);
        for (const n of ["1", "2", "shown"]) fake.update(2, { n });
        await until(() => document.querySelector(".panel:not([hidden])").textContent.includes("shown"));
        pause.click();
        fake.update(1, { last_price: "7.2" });
        for (const n of ["3", "4"]) fake.update(2, { n });
        await until(() => pause.textContent === "Resume (3 held)");
        document.querySelector(".panel:not([hidden]) .card-head button").click();
        await until(() => !document.querySelector("[id^=tab-own]"));
        fake.update(1, { last_price: "7.3" });
        await until(() => pause.textContent === "Resume (2 held)");
    """),
    # It had the values from before the page showed another tab, or none.
    trial("a_tab_of_a_paused_page_has_the_values_of_its_selection", READING + """
        const pause = document.getElementById("pause"), form = document.getElementById("subscribe-form");
        const cells = () => [...document.querySelectorAll(".panel:not([hidden]) td[data-field=n] .value")].map(({ textContent }) => textContent).join();
        const open = (items) => {
            form.elements.items.value = items;
            form.elements.fields.value = "n";
            form.requestSubmit();
        };
        await until(() => badge.dataset.word === "connected");
        open("a");
        await until(() => fake.serial === 2);
        fake.update(2, { n: "before" });
        await until(() => cells() === "before");
        document.getElementById("tab-quotes").click();
        pause.click();
        fake.update(2, { n: "since" });
        await until(() => pause.textContent === "Resume (1 held)");
        document.getElementById("tab-own-1").click();
        await until(() => cells() === "since" && pause.textContent === "Resume (0 held)");
        fake.update(2, { n: "later" });
        await until(() => pause.textContent === "Resume (1 held)");
        if (cells() !== "since") return cells();
        open("b");
        await until(() => fake.serial === 3);
        fake.update(3, { n: "first" });
        await until(() => cells() === "first");
    """),
    # As over a connection that is lost without a sign: the dashboard was connected, and told afterwards that a new stream began.
    trial("a_stream_without_a_byte_is_stale", READING + """
        await until(() => badge.dataset.word === "connected");
        passed = 31_000;
        await until(() => badge.dataset.word === "stale");
        if (!document.querySelector(".panel:not([hidden])").classList.contains("stale")) return "the values are not marked";
        fake.write(":\\n\\n");
        await until(() => badge.dataset.word === "connected");
        const begun = document.getElementById("panel-events").textContent.split("A new stream began").length - 1;
        if (begun !== 1) return `${begun} streams began`;
    """),
    trial("a_page_without_answers_is_not_stale_while_values_arrive", DASHBOARD + """
        lists["/v1/upstreams"] = { upstreams: [{ name: "u", adapterSet: "DEMO" }], nextCursor: null };
        const page = window.fetch, badge = document.getElementById("status");
        let count = 0;
        window.fetch = async (url, options) => {
            if (url !== "/metrics") return page(url, options);
            count += 1;
            throw new TypeError("no connection");
        };
        await import("/assets/app.js");
        await until(() => count && fake.requests.some(({ path }) => path.endsWith("/events")));
        for (let number = 0; number < 10; number += 1) {
            fake.update(1, { last_price: `7.${number}` });
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
        await until(() => badge.dataset.word === "connected", 2000);
        await until(() => badge.dataset.word === "stale");
    """),
    # It was nowhere after *Open*, *Subscribe* and *Unsubscribe*: screen readers began at the top of the page.
    trial("the_focus_follows_to_the_tab_that_is_opened", """
        const { Tabs } = await import("/assets/tabs.js");
        document.body.innerHTML = `<div id="list"></div><details open><summary>s</summary><button id="form"></button></details>
            <div id="a"><button id="open"></button></div><div id="b"><button id="end"></button></div>`;
        const tabs = new Tabs(document.getElementById("list")), at = () => document.activeElement.id;
        for (const key of ["a", "b"]) tabs.add(key, key, document.getElementById(key));
        const focus = (id) => document.getElementById(id).focus();
        tabs.select("a");
        focus("open");
        tabs.select("b", true);
        if (at() !== "tab-b") return `opened: ${at()}`;
        focus("form");
        document.querySelector("details").open = false;
        tabs.select("b", true);
        if (at() !== "tab-b") return `subscribed: ${at()}`;
        focus("end");
        document.getElementById("b").remove();
        tabs.remove("b");
        if (at() !== "tab-a") return `removed: ${at()}`;
        document.querySelector("details").open = true;
        focus("form");
        tabs.select("a", true);
        if (at() !== "form") return `it left what is visible: ${at()}`;
        // The buttons that end a row and a line of the chart go with these.
        const { endButton, tableCard } = await import("/assets/lists.js"), { FeedPanel } = await import("/assets/panel.js"), { Feed } = await import("/assets/feed.js");
        const line = document.createElement("tr"), card = tableCard("T", "T", [["a"]], document.body.appendChild(document.createElement("tbody")));
        document.body.replaceChildren(card);
        card.querySelector("tbody").append(line);
        line.append(endButton("End it", { note() {}, read: async () => line.remove() }, async () => {}));
        line.firstChild.focus();
        line.firstChild.click();
        await until(() => !line.isConnected);
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (document.activeElement !== card.querySelector("[role=region]")) return `ended: ${document.activeElement.outerHTML}`;
        const feed = new Feed("f", "F", { ...quotes, fields: ["n", "m"] }), panel = new FeedPanel(feed);
        document.body.replaceChildren(panel.element);
        panel.element.hidden = false;
        feed.apply("update", { item: "a", itemPos: 1, fields: { n: "1", m: "2" } });
        panel.draw();
        panel.element.querySelector("[data-field=m]").dispatchEvent(new MouseEvent("click", { shiftKey: true }));
        const remove = panel.element.querySelector(".legend button");
        remove.focus();
        remove.click();
        if (document.activeElement !== panel.addButton) return `line: ${document.activeElement.outerHTML.slice(0, 200)}`;
    """),
    # The rows of the first drawing were offered; a list of all of them was made whenever the row of the chart was deleted.
    trial("the_chart_offers_the_present_rows", """
        const { Feed } = await import("/assets/feed.js"), { FeedPanel } = await import("/assets/panel.js");
        const feed = new Feed("f", "F", quotes), panel = new FeedPanel(feed), [select] = panel.element.querySelectorAll(".chart-card select");
        document.body.append(panel.element);
        panel.element.hidden = false;
        const offered = () => [...select.options].map(({ value }) => value).join();
        const add = (item) => {
            feed.apply("update", { item, itemPos: 1, fields: { n: "1" } });
            panel.draw();
        };
        add("a");
        add("b");
        if (offered() !== "a") return offered();
        select.focus();
        if (offered() !== "a,b" || select.value !== "a") return `${select.value} of ${offered()}`;
        select.value = "b";
        select.dispatchEvent(new Event("change"));
        if (panel.charted.join() !== "b,n" || select.value !== "b") return `${select.value}, ${panel.charted}`;
    """),
    # The first column, which stays in view, covered all others; an event of a list had the height of a hundred screens.
    trial("long_names_and_values_leave_room_for_the_others", """
        const { Feed } = await import("/assets/feed.js"), { TableView } = await import("/assets/table.js");
        const style = document.head.appendChild(document.createElement("link")), long = "x".repeat(10_000);
        await new Promise((resolve) => { Object.assign(style, { rel: "stylesheet", href: "/assets/dashboard.css", onload: resolve }); });
        const items = Array.from({ length: 300 }, (_, index) => `i${index}`);
        for (const mode of ["MERGE", "COMMAND", "RAW"]) {
            const feed = new Feed("f", "F", { upstream: "u", mode, items, fields: ["n"] }), view = new TableView(feed);
            document.body.replaceChildren(view.element);
            feed.apply("update", { item: long, itemPos: 1, key: long, command: "ADD", fields: { n: long } });
            view.draw();
            const [line] = view.element.querySelectorAll("tbody tr"), { offsetWidth: width } = line.cells[0];
            if (width > innerWidth / 2 || line.offsetHeight > innerHeight) return `${mode}: ${width} and ${line.offsetHeight} pixels`;
            if (mode !== "RAW" && line.cells[0].title !== long) return "no hint";
            if (view.caption.textContent.length > 100) return view.caption.textContent;
        }
    """),
    # An animation of a hidden page does not end.
    trial("rows_that_are_deleted_while_the_page_is_hidden_are_gone", """
        const { Feed } = await import("/assets/feed.js");
        const { TableView } = await import("/assets/table.js");
        const feed = new Feed("f", "F", { ...quotes, mode: "COMMAND", fields: ["key", "command", "n"] }), view = new TableView(feed);
        document.body.append(view.element);
        Object.defineProperty(document, "hidden", { value: true });
        for (const command of ["ADD", "UPDATE", "DELETE"]) for (const key of ["k", "l"]) {
            feed.apply("update", { item: "a", itemPos: 1, key, command, fields: { key, command, n: command } });
            view.draw();
        }
        if (view.element.querySelector("tbody tr")) return view.element.querySelector("tbody").textContent;
        if (document.getAnimations().length) return "the hidden page has animations";
    """),
    trial("only_what_watch_has_options_for_can_be_copied_for_it", """
        const { copyAs } = await import("/assets/snippets.js");
        const isOffered = (spec) => {
            const panel = copyAs(spec);
            for (const chip of panel.querySelectorAll(".chip")) {
                chip.click();
                if (!panel.querySelector("code").textContent) throw new Error(`${chip.textContent} is empty`);
            }
            return panel.textContent.includes("lightstreamer-gateway watch");
        };
        const { items, fields, ...rest } = quotes;
        const more = { itemGroup: "g", fieldSchema: "s", selector: "s", requestedSnapshot: "no", requestedMaxFrequency: "1", commandSecondLevelFields: ["m"] };
        if (!isOffered({ ...quotes, dataAdapter: "D", selector: undefined })) return "it is missing";
        if (isOffered({ ...rest, itemGroup: "g", fieldSchema: "s" })) return "it has no names";
        for (const [name, value] of Object.entries(more)) if (isOffered({ ...quotes, [name]: value })) return `it lacks ${name}`;
    """),
    # An item `a,b` became two in the address and in what "Copy as" shows, and `mode=raw` had the table of MERGE.
    trial("names_with_commas_and_modes_in_small_letters_are_read_from_the_address", """
        const { layoutOf, urlOf } = await import("/assets/layout.js"), { copyAs } = await import("/assets/snippets.js");
        const spec = { upstream: "u", mode: "RAW", items: ["a,b", "c"], fields: ["n", "m"] };
        for (const specs of [[spec], [spec, { ...spec, fields: ["n,m"] }], [{ ...spec, items: ["a"] }]]) {
            const { search, hash } = new URL(urlOf({ specs, key: "own-1" }), location);
            const found = layoutOf({ search: search.replaceAll("RAW", "raw"), hash }).specs;
            const texts = [found, specs].map((all) => JSON.stringify(all.map((one) => Object.entries(one).sort())));
            if (texts[0] !== texts[1]) return texts.join();
        }
        const panel = copyAs(spec), texts = {};
        for (const chip of panel.querySelectorAll(".chip")) {
            chip.click();
            texts[chip.textContent] = panel.querySelector("code").textContent;
        }
        if (!texts.curl.includes("item=a,b&item=c&fields=n,m")) return texts.curl;
        if (!texts.JavaScript.includes('items: ["a,b","c"]')) return texts.JavaScript;
        if (!texts.Python.includes('"item": ["a,b","c"],')) return texts.Python;
        if (texts.watch) return texts.watch;
    """),
    # Rows kept what their resources had when the page saw them first.
    trial("lists_follow_the_changes_of_their_resources", """
        const state = { upstream: "u", mode: "MERGE", itemGroup: null, fields: ["n"], fieldSchema: null, dataAdapter: null, active: true, subscribed: true,
            shared: false, ttl: 600, lastError: null, counters: { updates: 0, lostUpdates: 0, subscribed: 1 } };
        const stream = { id: "t", open: false, format: null, peer: null, sources: [], age: 0, lag: 0, delivered: 0, conflated: 0, dropped: 0 };
        const upstream = { name: "u", adapterSet: null, user: null, lastFailure: null, pool: { sessions: 0, subscriptions: 0, items: 0 },
            quotas: { sessions: 1, subscriptionsPerSession: 1, subscriptions: 1, items: 1 } };
        const feed = { name: "f", title: null, description: null, upstream: "u", dataAdapter: null, mode: "MERGE", selector: null, public: true,
            fields: [{ name: "n", type: "number", unit: null, description: null }], url: "/feeds/f" };
        let lists;
        window.fetch = async (url) => {
            const name = url.split("?")[0].split("/").at(-1);
            return fake.json(200, { nextCursor: null, [name]: lists[name] ?? [], ...name === "health" && { upstreams: [] } });
        };
        const { rights } = await import("/assets/rights.js");
        rights.read = async () => { rights.session = { operations: ["read", "subscribe"] }; };
        const { Sessions } = await import("/assets/sessions.js"), { Catalog } = await import("/assets/catalog.js");
        const [one, other] = ["", ""].map(() => document.body.appendChild(document.createElement("div"))), opened = [];
        const sessions = new Sessions(one, { streamId: () => null, note() {}, open: ({ items }) => opened.push(items.join()) });
        const catalog = new Catalog(other, document.createElement("p"), ({ items }) => opened.push(items.join()));
        for (const [item, client, peer] of [["a", "c1", null], ["b", "c2", "192.0.2.7"]]) {
            lists = { subscriptions: [{ ...state, id: "s", client, items: [item] }], streams: [{ ...stream, peer, open: !!peer, format: "sse" }],
                upstreams: [{ ...upstream, serverAddress: `http://${item}.example` }], feeds: [{ ...feed, items: [{ pattern: item, description: null }] }] };
            await sessions.read();
            await catalog.read();
            for (const button of document.querySelectorAll("button.link, .feed button")) button.click();
            const text = document.body.textContent;
            for (const part of [`http://${item}.example`, client, peer ?? "–"]) if (!text.includes(part)) return `${part} is missing`;
        }
        if (opened.join(" ") !== "a a a b b b") return opened.join(" ");
    """),
    # The first 500 streams looked like all of them.
    trial("a_list_that_is_cut_says_so", """
        const upstream = { serverAddress: "http://u", adapterSet: null, user: null, lastFailure: null, quotas: { sessions: 1, subscriptions: 1, items: 1 },
            pool: { sessions: 0, subscriptions: 0, items: 0 } };
        let all = 700;
        window.fetch = async (url) => {
            const [path, query] = url.split("?"), start = Number(new URLSearchParams(query).get("cursor")), end = Math.min(all, start + 100);
            const isLong = path === "/v1/upstreams" || path === "/v1/feeds";
            const entries = isLong ? Array.from({ length: end - start }, (_, index) => ({ ...upstream, name: `n${start + index}`, fields: [], items: null })) : [];
            const list = { [path.split("/").at(-1)]: entries, nextCursor: isLong && end < all ? `${end}` : null };
            return fake.json(200, path === "/health" ? { upstreams: [] } : list);
        };
        const { rights } = await import("/assets/rights.js");
        rights.read = async () => { rights.session = { operations: [] }; };
        const { Sessions } = await import("/assets/sessions.js"), { Catalog } = await import("/assets/catalog.js");
        const [one, other] = ["", ""].map(() => document.body.appendChild(document.createElement("div")));
        const sessions = new Sessions(one, { streamId: () => null, note() {}, open() {} });
        const catalog = new Catalog(other, document.createElement("p"), () => {});
        const read = async () => {
            await sessions.read();
            await catalog.read();
            return [one, other].map((element) => element.textContent.match(/Only the first [^.]*/g)?.join() ?? "");
        };
        const cut = await read();
        if (cut.join() !== "Only the first 500 upstreams are shown,Only the first 500 feeds are shown") return cut.join();
        all = 500;
        if ((await read()).join("")) return "whole lists are said to be cut";
    """),
    # The arrow and the hint of a former value stayed beside the present one.
    trial("a_cell_shows_nothing_of_its_former_value", """
        const { Feed } = await import("/assets/feed.js"), { TableView } = await import("/assets/table.js");
        const feed = new Feed("f", "F", { upstream: "u", mode: "MERGE", items: ["a"], fields: ["n"] }), view = new TableView(feed);
        document.body.append(view.element);
        const long = "x".repeat(50), seen = [];
        for (const n of ["1", "2", "halted", "3", "2", long, "short", null]) {
            feed.apply("update", { item: "a", itemPos: 1, fields: { n } });
            view.draw();
            const cell = view.element.querySelector("td[data-field=n]");
            seen.push([cell.textContent, cell.title.split(";")[0]]);
        }
        const chart = "Show the chart";
        const expected = [["1", chart], ["▲2", chart], ["halted", chart], ["3", chart], ["▼2", chart], [long, long], ["short", chart], ["", chart]];
        if (JSON.stringify(seen) !== JSON.stringify(expected)) return JSON.stringify(seen);
    """),
    # The page stayed as it was, also after "Connect again".
    trial("a_page_that_is_refused_at_its_start_tries_again", DASHBOARD + """
        const refuse = (status) => { lists["/v1/upstreams"] = { status, title: `Status ${status}` }; };
        const badge = document.getElementById("status"), button = document.getElementById("reconnect");
        refuse(403);
        await import("/assets/app.js");
        await until(() => badge.textContent.includes("Status 403") && !button.hidden);
        refuse(429);
        button.click();
        await until(() => badge.textContent.includes("Status 429"));
        refuse(503);
        await until(() => badge.textContent.includes("Status 503"));
        lists["/v1/upstreams"] = { upstreams: [], nextCursor: null };
        await until(() => badge.dataset.word === "idle");
    """),
    # Each one drew the ages of all rows: the time grew with the square of their number.
    trial("many_events_are_drawn_together", DASHBOARD + """
        lists["/v1/upstreams"] = { upstreams: [{ name: "u", adapterSet: "DEMO" }], nextCursor: null };
        const { Chart } = await import("/assets/chart.js"), { draw } = Chart.prototype;
        let count = 0;
        Chart.prototype.draw = function () { count += 1; draw.call(this); };
        await import("/assets/app.js");
        await until(() => fake.requests.some(({ path }) => path.endsWith("/events")));
        fake.update(1, { last_price: "7.15" });
        await until(() => document.querySelector("#panel-quotes tbody").textContent.includes("7.15"));
        count = 0;
        for (let number = 1; number <= 500; number += 1) {
            fake.send("end-of-snapshot", { subscription: "s1", client: "c", item: `i${number}`, itemPos: number });
        }
        fake.update(1, { last_price: "7.25" });
        await until(() => document.querySelector("#panel-quotes tbody").textContent.includes("7.25"));
        if (count > 20) return `${count} drawings`;
    """),
    trial("an_address_without_valid_escapes_shows_the_page", """
        const { layoutOf } = await import("/assets/layout.js");
        const { key } = layoutOf({ search: "", hash: "#100%" });
        if (key !== "100%") return `the key is ${key}`;
    """),
]


def main(_=None):
    # Few of them wait.
    perform(CHECKS, f"dashboard: {len(CHECKS)} checks of its scripts", RESOURCES, Assets, windows=1)


if __name__ == "__main__":
    gateway.script("dashboard", main)
