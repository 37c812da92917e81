"""What the hub of the module does when it is handed over, when sources are removed and added again, and when events come before responses.

    python module_hub.py

Ends 0 once every check holds; prints the first that does not, and ends 1. The page has a gateway of its own.
"""

import gateway
from module_pages import perform, trial

NAMES = """
    const { told } = fake, wait = (time) => new Promise((resolve) => setTimeout(resolve, time));
    const tab = (options) => connect("http://gateway.example", { share: "tabs", ...options });
    const opened = () => fake.requests.filter(({ path }) => path.endsWith("/events")).length;
    const source = (number, mode = "MERGE") => ({ ...fake.state, subscription: `s${number}`, mode });
    const update = (subscription, data, id) => fake.send("update", { subscription, client: "c", item: "b", itemPos: 1, snapshot: false, ...data }, id);
    const row = (key, id) => update("s2", { key, command: "ADD", fields: { key } }, id);
    const snapshot = (subscription) => update(subscription, { snapshot: true, fields: { n: "1" } });
    /** A gateway that adds a source, and sends its snapshot. */
    const supply = ({ add }, sources) => {
        if (!add) return;
        told(sources);
        snapshot(sources.at(-1).subscription);
    };
    /** A gateway that answers other streams than the first with a source: the module asks so for the source of one text. */
    const probes = (state) => ({ method }) => method === "POST" && fake.serial && fake.json(201, { id: "probe", sources: [state] });
    /** The client connects again, and its other subscription has an update; then `added` has some time to change. */
    const reconnect = async (added) => {
        fake.send("status", { client: "c", status: "DISCONNECTED:WILL-RETRY" });
        fake.send("status", { client: "c", status: "CONNECTED:WS-STREAMING" });
        fake.update(1, { n: "1" });
        await until(() => handle.rows.size);
        await wait(2500);
        return added.state.state !== "refused" && JSON.stringify(added.state);
    };
"""

CHECKS = [
    # The server has refused one subscription; the client of both connects again.
    trial("a_refusal_outlasts_a_reconnection_of_the_client", NAMES + """
        start();
        const other = gateway.subscribe({ ...quotes, items: ["b"] });
        await until(() => handle.state.state === "open" && other.state.state === "open");
        fake.send("subscription-error", { subscription: "s2", client: "c", code: 21, message: "Bad Item Group name" });
        fake.send("unsubscribed", { subscription: "s2", client: "c", active: false });
        await until(() => other.state.state === "refused");
        return reconnect(other);
    """),
    # As of a pooled client that has ended: the gateway tells `client: null`, and another upstream connects again.
    trial("a_refusal_without_a_client_outlasts_a_status_of_another_one", NAMES + """
        fake.changed = (_, sources) => {
            Object.assign(sources.at(-1), { client: null, status: null, active: false, subscribed: false, lastError: { code: 2, message: "No such adapter set" } });
            told(sources);
        };
        start();
        await until(() => handle.state.state === "open");
        const other = gateway.subscribe({ ...quotes, upstream: "bad" });
        await until(() => other.state.state === "refused");
        return reconnect(other);
    """),
    trial("a_refusal_of_a_session_concerns_no_subscription_without_a_client", NAMES + """
        fake.changed = (_, sources) => {
            Object.assign(sources.at(-1), { client: null, status: null, subscribed: false });
            told(sources);
        };
        start();
        await until(() => handle.state.state === "open");
        const seen = [], other = gateway.subscribe({ ...quotes, upstream: "other" }, { state: ({ state }) => seen.push(state) });
        await until(() => other.info.source);
        fake.send("server-error", { client: "c", code: 8, message: "Too many sessions" });
        await until(() => handle.state.state === "refused");
        fake.send("subscribed", { subscription: "s2", client: "d", itemCount: 1, fieldCount: 1 });
        await until(() => other.info.client === "d");
        if (seen.includes("refused")) return seen.join();
    """),
    # As after the end of a replica: another client, which is connected, has the subscription. The stream has no event of the client.
    trial("a_subscription_that_another_client_continues_is_open", NAMES + """
        start();
        await until(() => handle.state.state === "open");
        snapshot("s1");
        fake.send("status", { client: "c", status: "DISCONNECTED:WILL-RETRY" });
        await until(() => handle.state.state === "stale");
        fake.send("unsubscribed", { subscription: "s1", client: "c", active: true });
        fake.send("subscribed", { subscription: "s1", client: "d", itemCount: 1, fieldCount: 1 });
        await until(() => handle.state.state === "open");
    """),
    # Removed and added again while the events from before are still on their way: the gateway has the same subscription.
    trial("a_source_that_is_added_again_has_no_rows_from_before", NAMES + """
        start();
        await until(() => handle.state.state === "open");
        const spec = { ...quotes, mode: "COMMAND", items: ["b"] };
        let other = gateway.subscribe(spec);
        await until(() => other.state.state === "open");
        told([source(1), source(2, "COMMAND")]);
        row("k0", "e-10");
        await until(() => other.rows.size === 1);
        other.close();
        let isAdded;
        fake.refuse = probes(source(2, "COMMAND"));
        fake.changed = ({ add }, sources) => {
            if (!add) return;
            sources.at(-1).subscription = "s2";
            isAdded = true;
        };
        await until(() => fake.requests.filter(({ method }) => method === "PATCH").length === 2);
        other = gateway.subscribe(spec);
        await until(() => isAdded && other.state.state === "open");
        row("k1", "e-11");
        told([source(1)]);
        told([source(1), source(2, "COMMAND")]);
        row("k2", "e-12");
        await until(() => other.rows.has("k2"));
        if ([...other.rows.keys()].join() !== "k2") return [...other.rows.keys()].join();
    """),
    # The next stream has the source of an unanswered addition, and repeats its events while it is removed and added.
    trial("repeated_events_of_a_source_that_is_added_again_are_no_part_of_it", NAMES + """
        let answer, count = 0;
        fake.refuse = probes(source(2, "COMMAND"));
        fake.changed = async ({ add }, sources) => {
            if (!add) return;
            sources.at(-1).subscription = "s2";
            if (++count === 1) {
                told(sources);
                await new Promise((resolve) => { answer = resolve; });
            } else {
                // What the stream had before the removal arrives now.
                row("k1");
                told(sources.slice(0, -1));
                told(sources);
                row("k2");
                await wait(50);
            }
        };
        start();
        await until(() => handle.state.state === "open");
        fake.update(1, { n: "0" });
        const added = gateway.subscribe({ ...quotes, mode: "COMMAND", items: ["b"] });
        await until(() => answer);
        fake.end();
        await until(() => handle.state.state !== "open");
        answer();
        await until(() => handle.state.state === "open");
        await until(() => added.rows.has("k2"));
        if ([...added.rows.keys()].join() !== "k2") return [...added.rows.keys()].join();
    """),
    # Another epoch begins between the event of an addition and its answer.
    trial("a_new_epoch_voids_events_before_the_answer_to_an_addition", NAMES + """
        fake.changed = async (_, sources) => {
            told(sources);
            row("k1", "e-10");
            told(sources, "gap");
            row("k2", "f-1");
            await wait(50);
        };
        start();
        await until(() => handle.state.state === "open");
        const added = gateway.subscribe({ ...quotes, mode: "COMMAND", items: ["b"] });
        await until(() => added.rows.has("k2"));
        if ([...added.rows.keys()].join() !== "k2") return [...added.rows.keys()].join();
    """),
    # A hidden tab knows the source of its subscription, but has no rows of it yet, when the hub dies.
    trial("a_tab_that_waits_for_its_snapshot_has_not_the_whole", NAMES + """
        let answer;
        fake.changed = async (_, sources) => {
            told(sources);
            await wait(1200);
            snapshot("s2");
            fake.update(1, { n: "9" });
            await new Promise((resolve) => { answer = resolve; });
        };
        const hub = tab(), first = hub.subscribe(quotes);
        await until(() => first.state.state === "open");
        Object.defineProperty(document, "hidden", { value: true });
        const hidden = tab({ hidden: { maxFrequency: 0.2 } });
        await until(() => hidden.stream === "stream");
        await wait(1200);
        const added = hidden.subscribe({ ...quotes, items: ["b"] });
        await until(() => answer && first.rows.get("a")?.n === "9");
        fake.changed = supply;
        answer();
        await until(() => added.info.source);
        hub.close();
        await until(() => opened() === 2);
        await until(() => added.rows.get("b")?.n === "1");
    """),
    # The last event of the tab is one of a former stream.
    trial("a_tab_without_rows_does_not_continue_after_an_event_of_a_former_stream", NAMES + """
        const hub = tab();
        await wait(300);
        const other = tab(), first = other.subscribe(quotes);
        await until(() => first.state.state === "open");
        fake.update(1, { n: "1" });
        await until(() => first.rows.size);
        first.close();
        await until(() => fake.requests.some(({ method }) => method === "DELETE"));
        let count = 0;
        fake.refuse = ({ path, signal }) => path.endsWith("/events") && ++count === 1
            && new Promise((resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        const added = other.subscribe({ ...quotes, items: ["b"] });
        await until(() => count && added.info.source);
        // The gateway sends the snapshot to a stream that begins, or once the source is added.
        fake.changed = supply;
        hub.close();
        await until(() => added.state.state === "open");
        if (other.state.resume === "resumed") await until(() => added.rows.size);
    """),
    # A hidden tab has events of the former epoch alone when the hub dies.
    trial("tabs_of_two_epochs_begin_with_a_snapshot", NAMES + """
        const asked = [], { fetch } = window;
        window.fetch = (url, init) => {
            if (url.endsWith("/events")) {
                const id = init.headers["Last-Event-ID"];
                asked.push(id);
                // An id that is not of this epoch gives a gap.
                if (id && !id.startsWith("f")) init = { ...init, headers: {} };
            }
            return fetch(url, init);
        };
        const send = (item, id) => update("s1", { item, fields: { n: "1" } }, id);
        const hub = tab(), first = hub.subscribe(quotes);
        await until(() => first.state.state === "open");
        const second = tab(), own = second.subscribe(quotes);
        await until(() => own.state.state === "open");
        Object.defineProperty(document, "hidden", { value: true });
        const hidden = tab({ hidden: { maxFrequency: 1 / 3 } }), late = hidden.subscribe(quotes);
        await until(() => late.state.state === "open");
        send("old", "e-1");
        await until(() => [first, own, late].every(({ rows }) => rows.has("old")));
        send("older", "e-2");
        await until(() => late.rows.has("older"));
        told([source(1)], "gap");
        for (const id of ["f-1", "f-2"]) send("new", id);
        await until(() => own.rows.has("new"));
        hub.close();
        await until(() => asked.length === 2);
        await wait(500);
        send(asked[1]?.startsWith("f") ? "next" : "new", "f-3");
        await until(() => !late.rows.has("old") && late.rows.has("new"));
    """),
    # One tab has a source by one text; another has it by another text, but not the whole yet; a third one has the whole.
    trial("a_source_with_two_texts_survives_a_hand_over", NAMES + """
        const same = { ...quotes, requestedSnapshot: "yes" };
        fake.changed = ({ add }, sources) => { if (add) sources.pop(); };
        fake.refuse = probes(source(1));
        const hub = tab(), own = hub.subscribe(quotes);
        await until(() => own.state.state === "open");
        const second = tab(), first = second.subscribe(quotes);
        await until(() => first.state.state === "open");
        const third = tab();
        await until(() => third.stream === "stream");
        const fourth = tab(), other = fourth.subscribe(same);
        await until(() => other.state.state === "open");
        fake.update(1, { n: "1" });
        fake.update(1, { n: "2" });
        await until(() => [first, other].every(({ rows }) => rows.get("a")?.n === "2"));
        const late = third.subscribe(same);
        await until(() => late.rows.get("a")?.n === "2");
        hub.close();
        await until(() => opened() === 2);
        await until(() => [first, other, late].every(({ state }) => state.state === "open"));
        await wait(500);
        fake.update(1, { n: "3" });
        await until(() => other.rows.get("a").n === "3");
        await until(() => late.rows.get("a").n === "3");
        await until(() => first.rows.get("a").n === "3");
    """),
    # After a hand-over the former stream stays in use; another one continues after the last event of the slowest tab.
    trial("a_list_has_no_event_twice_after_a_hand_over", NAMES + """
        const list = { ...quotes, mode: "RAW" };
        const send = (number) => update(`s${fake.serial}`, { item: "a", fields: { n: `${number}` } }, `e-${number}`);
        const hub = tab(), first = hub.subscribe(list);
        await until(() => first.state.state === "open");
        const second = tab(), own = second.subscribe(list);
        await until(() => own.state.state === "open");
        Object.defineProperty(document, "hidden", { value: true });
        const hidden = tab({ hidden: { maxFrequency: 1 / 3 } }), late = hidden.subscribe(list);
        await until(() => late.state.state === "open");
        send(10);
        await until(() => late.rows.length === 1);
        send(11);
        await until(() => late.rows.length === 2);
        send(12); send(13);
        await until(() => own.rows.length === 4);
        fake.refuse = ({ method, path }) => path.endsWith("/events") && fake.serial === 1 && fake.json(409, { code: "stream-in-use" });
        hub.close();
        await until(() => fake.serial === 2 && own.state.state === "open");
        for (const number of [12, 13, 14]) send(number);
        await until(() => own.rows.length === 5);
        const again = tab().subscribe(list);
        await until(() => again.rows.length);
        const found = [own, again].map(({ rows }) => rows.map(({ fields }) => fields.n).join());
        if (found[0] !== found[1]) return found.join(" | ");
    """),
    # The gateway merges again what the slowest tab lacks: the id of a row is that before the first event of the next row.
    trial("a_conflated_event_after_a_hand_over_is_applied", NAMES + """
        const hub = tab(), first = hub.subscribe(quotes);
        await until(() => first.state.state === "open");
        const second = tab(), own = second.subscribe(quotes);
        await until(() => own.state.state === "open");
        Object.defineProperty(document, "hidden", { value: true });
        const late = tab({ hidden: { maxFrequency: 1 / 3 } }).subscribe(quotes);
        await until(() => late.state.state === "open");
        const shows = (one, n) => until(() => one.rows.get("a")?.n === n), send = (n, more, id) => update("s1", { item: "a", fields: { n }, ...more }, id);
        send("1", {}, "e-1");
        await shows(late, "1");
        send("2", {}, "e-2");
        await shows(late, "2");
        for (const number of [3, 4]) send(`${number}`, {}, `e-${number}`);
        await shows(own, "4");
        hub.close();
        await until(() => opened() === 2 && own.state.state === "open");
        await wait(100);
        send("5", { conflated: 3 }, "e-3");
        await shows(own, "5");
        // What follows is newer than the merged values, whatever the tab had before.
        send("6", {}, "e-4");
        await shows(own, "6");
        await shows(tab().subscribe(quotes), "6");
    """),
    trial("whoever_joins_is_told_that_the_snapshot_has_ended", NAMES + """
        const end = "end-of-snapshot";
        const join = (one) => {
            const seen = [], note = (name) => { if (["update", end].includes(name)) seen.push(name); };
            one.subscribe(quotes, { update: () => note("update"), event: note, reset() { seen.length = 0; } });
            return seen;
        };
        const hub = tab(), seen = join(hub);
        await until(() => opened());
        const second = tab();
        await until(() => second.stream === "stream");
        fake.update(1, { n: "1" });
        fake.send(end, { subscription: "s1", client: "c", item: "a", itemPos: 1 });
        await until(() => seen.includes(end));
        const isTold = (one) => {
            const seen = join(one);
            return until(() => seen.join() === `update,${end}`, 3000);
        };
        // In the same tab, in another one, and after a hand-over.
        await isTold(hub);
        await isTold(second);
        const own = second.subscribe(quotes);
        fake.update(1, { n: "2" });
        await until(() => own.rows.get("a")?.n === "2");
        hub.close();
        await until(() => opened() === 2);
        await isTold(tab());
        // Another snapshot follows.
        told([source(1)], "gap");
        fake.update(1, { n: "3" });
        const late = join(tab());
        await until(() => late.length);
        await wait(100);
        if (late.join() !== "update") return late.join();
    """),
    trial("a_page_that_gives_no_first_token_in_time_is_asked_again", """
        let asked = 0;
        start({ token: () => ++asked === 1 ? new Promise(() => {}) : "new" });
        await until(() => handle.state.state === "open", 20_000);
    """),
    trial("a_reader_of_a_shared_subscription_has_each_row_once", """
        start();
        await until(() => handle.state.state === "open");
        fake.update(1, { n: "1" });
        await until(() => handle.rows.size);
        const seen = [], other = gateway.subscribe(quotes);
        (async () => { for await (const { fields } of other) seen.push(fields.n); })();
        fake.update(1, { n: "2" });
        await until(() => seen.at(-1) === "2");
        if (seen.join() !== "1,2") return seen.join();
    """),
    trial("a_page_that_is_shown_has_what_was_kept_for_it", """
        let isHidden = true;
        Object.defineProperty(document, "hidden", { get: () => isHidden });
        start({ hidden: { maxFrequency: 0.02 } });
        await until(() => handle.state.state === "open");
        fake.update(1, { n: "1" });
        await new Promise((resolve) => setTimeout(resolve, 100));
        fake.update(1, { n: "2" });
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (handle.rows.get("a")?.n === "2") return "not kept";
        isHidden = false;
        document.dispatchEvent(new Event("visibilitychange"));
        await until(() => handle.rows.get("a")?.n === "2");
    """),
    # A tab is opened while the hub makes another stream, which continues after the last event: there is no snapshot of the gateway.
    trial("a_tab_that_joins_between_two_streams_has_the_rows", NAMES + """
        let answer, made = 0;
        fake.refuse = async ({ method }) => {
            if (method === "POST" && ++made === 2) await new Promise((resolve) => { answer = resolve; });
        };
        const first = tab().subscribe(quotes);
        await until(() => first.state.state === "open");
        fake.update(1, { n: "1" });
        await until(() => first.rows.size);
        fake.send("closing", { reason: "deleted" }, "");
        fake.end();
        await until(() => answer);
        const second = tab().subscribe(quotes);
        await until(() => second.info.source);
        answer();
        await until(() => second.state.state === "open");
        fake.update(2, { m: "2" });
        await until(() => second.rows.get("a")?.m);
        if (second.rows.get("a").n !== "1") return JSON.stringify([...second.rows]);
    """),
    # As after a sign-out: the refusal is forgotten before the new tab is told of its subscription, and the next stream continues.
    trial("a_tab_that_signs_in_again_has_the_rows", NAMES + """
        let isSignedIn = true;
        fake.refuse = () => !isSignedIn && fake.json(401, { code: "unauthorized" });
        const first = tab().subscribe(quotes);
        await until(() => first.state.state === "open");
        fake.update(1, { n: "1" });
        await until(() => first.rows.size);
        isSignedIn = false;
        fake.end();
        await until(() => first.state.state === "refused");
        isSignedIn = true;
        const second = tab().subscribe(quotes);
        await until(() => second.state.state === "open");
        fake.update(fake.serial, { m: "2" });
        await until(() => second.rows.get("a")?.m);
        if (second.rows.get("a").n !== "1") return JSON.stringify([...second.rows]);
    """),
    # The refusal of an addition comes while the stream is replaced.
    trial("a_refusal_after_the_end_of_its_stream_makes_no_other_stream", NAMES + """
        let answer, made = 0;
        fake.refuse = async ({ method, data }) => {
            if (method === "PATCH" && data.add?.length === 2 && !answer) {
                await new Promise((resolve) => { answer = resolve; });
                return fake.json(422, { code: "invalid", errors: [{ pointer: "/add/0", detail: "No." }] });
            }
            if (method === "POST" && ++made > 1) await wait(300);
        };
        start();
        await until(() => handle.state.state === "open");
        const others = ["b", "x"].map((item) => gateway.subscribe({ ...quotes, items: [item] }));
        await until(() => answer);
        fake.send("closing", { reason: "deleted" }, "");
        fake.end();
        await until(() => made === 2);
        answer();
        await until(() => handle.state.state === "open" && others[1].state.state === "open");
        if (made > 2) return `${made} streams`;
    """),
]


def main(_=None):
    perform(CHECKS, f"module: {len(CHECKS)} checks of the hub")


if __name__ == "__main__":
    gateway.script("module", main)
