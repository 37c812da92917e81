"""The module for browsers while tabs are killed, closed, reloaded, frozen and restored at random, under updates and faults.

    python chaos.py .build/debug/lightstreamer-gateway [--operations 1000] [--seed 7]

Every tab compares its tables with those of the gateway, and counts the events of a feed that numbers them. Ends 0 if no event
was lost or doubled and no row is a ghost; prints the seed.
"""

import argparse
import contextlib
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import gateway
from browser import browsing
from pages import other_origin

MOST_TABS = 6
CHECK_EVERY = 20

SETUP = """(async () => {
    const { connect } = await import("/gateway.js");
    window.faults = [];
    window.counts = { events: 0, resets: 0 };
    addEventListener("error", ({ message }) => faults.push(message));
    addEventListener("unhandledrejection", ({ reason }) => faults.push(String(reason?.stack ?? reason)));
    window.gateway = connect("%(address)s", { share: "%(share)s" || undefined });
    const last = new Map();
    window.handles = [
        gateway.subscribe({ upstream: "demo", mode: "COMMAND", items: ["portfolio1"], fields: ["key", "command", "qty"],
            dataAdapter: "PORTFOLIO_ADAPTER", commandSecondLevelFields: ["stock_name", "last_price"],
            commandSecondLevelDataAdapter: "QUOTE_ADAPTER" }),
        gateway.subscribe({ upstream: "demo", mode: "MERGE", items: ["item1", "item2", "item3"], fields: ["stock_name", "last_price"] }),
    ];
    window.numbered = gateway.subscribe(
        { upstream: "demo", mode: "RAW", dataAdapter: "RAW_FEED", items: ["raw1", "raw2", "raw3"], fields: ["number", "time", "text"] }, {
        reset() { last.clear(); counts.resets += 1; },
        update({ item, fields }) {
            const number = Number(fields.number), before = last.get(item);
            if (before !== undefined && number !== before + 1) {
                faults.push(`${item}: ${number} after ${before}, ${number > before ? "lost" : "doubled"}`);
            }
            last.set(item, number);
            counts.events += 1;
        },
        event(name) { if (name === "lost-updates" || name === "subscribed") last.clear(); },
    });
    window.extra = new Map();
    window.toggle = (number) => {
        if (extra.has(number)) { extra.get(number).close(); extra.delete(number); return; }
        extra.set(number, gateway.subscribe({ upstream: "demo", mode: "MERGE", items: [`item${number}`], fields: ["bid", "ask"] }));
    };
    const asObject = (map) => Object.fromEntries([...map].sort());
    const text = (rows) => JSON.stringify(rows, (name, value) => value && !Array.isArray(value) && typeof value === "object"
        ? Object.fromEntries(Object.entries(value).filter(([member]) => member !== "command").sort()) : value);
    async function difference(handle) {
        if (handle.state.state !== "open") return `state ${JSON.stringify(handle.state)}`;
        const { items } = await gateway.request("GET", `/v1/subscriptions/${handle.info.source}/values`);
        const truth = handle.spec.mode === "COMMAND"
            ? Object.fromEntries(items.map(({ item, keys }) => [item, keys ?? {}]))
            : Object.fromEntries(items.filter(({ age }) => age !== null).map(({ item, fields }) => [item, fields]));
        const mine = handle.spec.mode === "COMMAND"
            ? Object.fromEntries([...handle.table.items].map(([item, rows]) => [item, asObject(rows)])) : asObject(handle.rows);
        return text(mine) === text(truth) ? "" : `${text(mine)} is not ${text(truth)}`;
    }
    window.nextEvent = async () => {
        const events = counts.events, end = Date.now() + 10_000;
        while (counts.events === events && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
        return counts.events !== events;
    };
    /** What differs from the gateway's tables; the empty text once nothing does. */
    window.verify = async () => {
        let found = "";
        for (const handle of [...handles, ...extra.values()]) {
            const end = Date.now() + 20_000;
            while ((found = await difference(handle).catch(String)) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
            if (found) return `${JSON.stringify(handle.spec)}: ${found}`;
        }
        if (!await nextEvent()) return "no numbered event arrives";
        return faults.join("; ");
    };
})()"""


class Chaos:
    def __init__(self, address, origin, browser, share, generator):
        self.address = address
        self.origin = origin
        self.browser = browser
        self.share = share
        self.generator = generator
        self.server = gateway.get(f"{address}/v1/upstreams/demo")["serverAddress"]
        self.tabs = []
        self.totals = {"events": 0, "resets": 0}
        self.done = {}

    def run(self, operations):
        for _ in range(3):
            self.open()
        actions = [
            (self.open, 3), (self.close, 2), (self.kill, 3), (self.reload, 3), (self.freeze, 2), (self.leave_and_return, 2),
            (self.toggle, 8), (self.end_the_stream, 1), (self.cut_the_upstream, 1), (self.rebind_the_upstream, 1),
        ]
        names, weights = zip(*actions)
        for number in range(1, operations + 1):
            action = self.generator.choices(names, weights)[0]
            self.done[action.__name__] = self.done.get(action.__name__, 0) + 1
            action()
            if not self.tabs:
                self.open()
            if self.generator.random() < 0.4:
                # The next operation interrupts updates, not the silence after the last one.
                with contextlib.suppress(RuntimeError):
                    self.some().see("nextEvent()")
            if number % CHECK_EVERY == 0:
                self.verify()
        self.verify()

    def verify(self):
        # At the same time, since each tab waits for an event.
        with ThreadPoolExecutor(MOST_TABS) as pool:
            looks = list(zip(self.tabs, pool.map(self.look, self.tabs)))
        for tab, look in looks:
            if not look:
                # Its process was that of a tab that was killed.
                self.forget(tab)
                continue
            found, counts = look
            if found:
                raise RuntimeError(found)
            for name, count in counts.items():
                self.totals[name] += count - tab.counted.get(name, 0)
            tab.counted = counts
        streams = [stream for stream in gateway.streams(self.address) if stream["open"]]
        if self.tabs and len(streams) != 1:
            raise RuntimeError(f"{len(streams)} streams are open")

    def look(self, tab):
        """What is wrong in a tab and its counts; nothing if the tab is dead."""
        try:
            return tab.see("verify()"), tab.see("counts")
        except Exception:
            return None

    def forget(self, tab):
        self.tabs.remove(tab)
        with contextlib.suppress(Exception):
            tab.close()

    def some(self):
        """A tab that lives."""
        while self.tabs:
            tab = self.generator.choice(self.tabs)
            try:
                tab.see("1")
                return tab
            except Exception:
                self.forget(tab)
        self.open()
        return self.tabs[0]

    def set_up(self, tab):
        tab.wait("location.pathname === '/page' && document.readyState === 'complete'")
        tab.counted = {}
        tab.see(SETUP % {"address": self.address, "share": self.share})

    # MARK: - Operations

    def open(self):
        if len(self.tabs) < MOST_TABS:
            tab = self.browser.tab(f"{self.origin}/page")
            self.set_up(tab)
            self.tabs.append(tab)

    def close(self):
        tab = self.some()
        self.tabs.remove(tab)
        tab.close()

    def kill(self):
        tab = self.some()
        self.tabs.remove(tab)
        tab.kill()

    def reload(self):
        tab = self.some()
        tab.call("Page.reload")
        self.set_up(tab)

    def freeze(self):
        tab = self.some()
        tab.call("Page.setWebLifecycleState", state="frozen")
        if self.generator.random() < 0.5:
            self.toggle(without=tab)
        tab.call("Page.setWebLifecycleState", state="active")

    def leave_and_return(self):
        tab = self.some()
        tab.go(f"{self.origin}/other")
        tab.see("void setTimeout(() => history.back())")
        tab.wait("location.pathname === '/page' && document.readyState === 'complete'")
        if not tab.see("'verify' in window"):
            self.set_up(tab)

    def toggle(self, without=None):
        tab = self.some()
        if tab is not without:
            with contextlib.suppress(RuntimeError):
                tab.see(f"toggle({self.generator.randint(4, 12)})")

    def end_the_stream(self):
        for stream in gateway.streams(self.address):
            gateway.delete(f"{self.address}/v1/streams/{stream['id']}")

    def cut_the_upstream(self):
        gateway.post(f"{self.server}/demo/faults", "drop")

    def rebind_the_upstream(self):
        gateway.post(f"{self.server}/demo/faults", "loop")


def perform(binary, operations, seed, share):
    with other_origin() as origin, gateway.demo(binary, "--set", f"cors.origins={origin}") as (address, _), browsing() as browser:
        chaos = Chaos(address, origin, browser, share, random.Random(f"{seed} {share}"))
        try:
            chaos.run(operations)
        except Exception as problem:
            raise RuntimeError(f"seed {seed}, share \"{share}\", after {chaos.done}: {problem}") from problem
        where = "a SharedWorker" if not share else "the tabs"
        print(f"chaos: seed {seed}, hub in {where}: {sum(chaos.done.values())} operations {chaos.done}, "
              f"{chaos.totals['events']} numbered events, {chaos.totals['resets']} resets; 0 lost, 0 doubled, 0 ghost rows")


def main(binary, operations, seed):
    """Half of the operations with a hub in a SharedWorker, half with one in the tabs, at the same time: most of it is waiting."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda share: perform(binary, operations // 2, seed, share), ("", "tabs")))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--operations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    arguments = parser.parse_args()
    try:
        main(arguments.binary, arguments.operations, arguments.seed)
    except Exception as problem:
        sys.exit(f"chaos: {problem}")
