"""Drives the official Lightstreamer client library for Python against a demo server.

usage: python official_client.py http://127.0.0.1:PORT [--transport WS-STREAMING …] [--timeout SECONDS] [--faults]

Needs the package lightstreamer-client-lib. Every transport is forced in turn and goes through the same checks;
the exit status is 0 if all of them hold, 1 if one does not, 2 for wrong usage. --faults adds checks for which the
server misbehaves; it has to accept that from clients (POST /demo/faults).
"""

import argparse
import json
import sys
import threading
import time
import urllib.request

from lightstreamer.client import (
    ClientListener,
    ClientMessageListener,
    LightstreamerClient,
    Subscription,
    SubscriptionListener,
)

TRANSPORTS = ["WS-STREAMING", "HTTP-STREAMING", "WS-POLLING", "HTTP-POLLING"]


class Failure(Exception):
    """A check that does not hold."""


class Journal:
    """A list that can be waited on."""

    def __init__(self):
        self._entries = []
        self._changed = threading.Condition()

    def add(self, entry):
        with self._changed:
            self._entries.append(entry)
            self._changed.notify_all()

    def entries(self):
        with self._changed:
            return list(self._entries)

    def wait(self, what, holds, timeout):
        """Waits until holds(entries) is true; its value is returned."""
        end = time.monotonic() + timeout
        with self._changed:
            while True:
                value = holds(self._entries)
                if value:
                    return value
                rest = end - time.monotonic()
                if rest <= 0:
                    raise Failure(f"no {what}; got {self._entries[-8:]}")
                self._changed.wait(rest)


class StatusJournal(Journal, ClientListener):
    def onStatusChange(self, status):
        self.add(("status", status))

    def onServerError(self, code, message):
        self.add(("server-error", code, message))


class SubscriptionJournal(Journal, SubscriptionListener):
    def onSubscription(self):
        self.add(("subscribed",))

    def onUnsubscription(self):
        self.add(("unsubscribed",))

    def onSubscriptionError(self, code, message):
        self.add(("error", code, message))

    def onCommandSecondLevelSubscriptionError(self, code, message, key):
        self.add(("second-level-error", code, message, key))

    def onEndOfSnapshot(self, item_name, item_pos):
        self.add(("end-of-snapshot", item_name, item_pos))

    def onClearSnapshot(self, item_name, item_pos):
        self.add(("clear-snapshot", item_name, item_pos))

    def onItemLostUpdates(self, item_name, item_pos, lost):
        self.add(("lost", item_name, item_pos, lost))

    def onRealMaxFrequency(self, frequency):
        self.add(("frequency", frequency))

    def onItemUpdate(self, update):
        self.add(
            (
                "update",
                update.getItemName(),
                update.isSnapshot(),
                dict(update.getFields()),
                dict(update.getChangedFields()),
                update,
            )
        )


class MessageJournal(Journal, ClientMessageListener):
    def onProcessed(self, text, response):
        self.add(("processed", text, response))

    def onDeny(self, text, code, error):
        self.add(("denied", text, code, error))

    def onError(self, text):
        self.add(("error", text))

    def onDiscarded(self, text):
        self.add(("discarded", text))

    def onAbort(self, text, sent):
        self.add(("aborted", text, sent))


def of_kind(kind):
    return lambda entries: [entry for entry in entries if entry[0] == kind]


def expect(condition, what):
    if not condition:
        raise Failure(what)


class Check:
    """All checks over one transport."""

    def __init__(self, address, transport, timeout, with_faults):
        self.address = address
        self.transport = transport
        self.with_faults = with_faults
        self.timeout = timeout
        self.client = LightstreamerClient(address, "DEMO")
        self.client.connectionOptions.setForcedTransport(transport)
        self.status = StatusJournal()
        self.client.addListener(self.status)

    def run(self):
        steps = [
            self.connects,
            self.merge,
            self.distinct_and_chat,
            self.two_level_command,
            self.raw,
            self.documents,
            self.frequency,
            self.refusals,
            self.messages,
        ]
        if self.with_faults:
            steps += [self.recovery, self.mute_connection, self.loop, self.split_writes]
        try:
            for step in steps:
                started = time.monotonic()
                step()
                print(f"  {step.__name__:20} ok {time.monotonic() - started:6.2f} s", flush=True)
            errors = of_kind("server-error")(self.status.entries())
            expect(not errors, f"server errors: {errors}")
        finally:
            self.client.disconnect()
        self.status.wait(
            "disconnection", lambda entries: ("status", "DISCONNECTED") in entries[-2:], self.timeout
        )

    def subscribe(self, mode, items, fields, adapter=None, **options):
        subscription = Subscription(mode, items, fields)
        if adapter:
            subscription.setDataAdapter(adapter)
        for name, value in options.items():
            getattr(subscription, name)(value)
        journal = SubscriptionJournal()
        subscription.addListener(journal)
        self.client.subscribe(subscription)
        return subscription, journal

    def unsubscribe(self, subscription, journal):
        self.client.unsubscribe(subscription)
        journal.wait("unsubscription", of_kind("unsubscribed"), self.timeout)
        before = len(journal.entries())
        expect(journal.entries()[before - 1] == ("unsubscribed",), "something came after the unsubscription")

    def connects(self):
        self.client.connect()
        self.status.wait(
            f"status CONNECTED:{self.transport}",
            lambda entries: ("status", "CONNECTED:" + self.transport) in entries,
            self.timeout,
        )

    def merge(self):
        fields = ["stock_name", "last_price", "time", "bid", "ask", "item_status"]
        items = ["item1", "item2", "item30"]
        subscription, journal = self.subscribe("MERGE", items, fields)
        journal.wait("subscription", of_kind("subscribed"), self.timeout)

        def snapshots(entries):
            found = [entry for entry in of_kind("update")(entries) if entry[2]]
            return {entry[1]: entry for entry in found} if {entry[1] for entry in found} == set(items) else None

        rows = journal.wait("snapshot of every item", snapshots, self.timeout)
        for row in rows.values():
            expect(all(row[3][field] for field in fields), f"empty field in {row}")
            float(row[3]["last_price"])
        later = journal.wait(
            "updates after the snapshot",
            lambda entries: [e for e in of_kind("update")(entries) if not e[2]][:4] if len(
                [e for e in of_kind("update")(entries) if not e[2]]
            ) >= 4 else None,
            self.timeout,
        )
        expect(all("stock_name" not in entry[4] for entry in later), "the name of a share has changed")
        expect(not of_kind("end-of-snapshot")(journal.entries()), "end of snapshot in MERGE mode")
        expect(
            subscription.getValue("item1", "stock_name") == rows["item1"][3]["stock_name"], "wrong value by name"
        )
        self.unsubscribe(subscription, journal)

    def distinct_and_chat(self):
        subscription, journal = self.subscribe(
            "DISTINCT", ["chat_room"], ["raw_timestamp", "message", "IP"], "CHAT_ROOM"
        )
        journal.wait("end of snapshot", of_kind("end-of-snapshot"), self.timeout)
        rows = of_kind("update")(journal.entries())
        expect(rows and all(row[2] for row in rows), f"no snapshot before its end: {rows}")
        text = f"caffè €5, 50% off | & \"A+B\"=ok 😀 over {self.transport}"
        self.client.sendMessage("CHAT|" + text)
        row = journal.wait(
            "own chat line",
            lambda entries: [e for e in of_kind("update")(entries) if e[3]["message"] == text],
            self.timeout,
        )[0]
        expect(not row[2] and row[3]["IP"] and int(row[3]["raw_timestamp"]) > 0, f"wrong chat line {row}")
        self.unsubscribe(subscription, journal)

    def two_level_command(self):
        subscription, journal = self.subscribe(
            "COMMAND",
            ["portfolio1"],
            ["key", "command", "qty"],
            "PORTFOLIO_ADAPTER",
            setCommandSecondLevelFields=["stock_name", "last_price"],
            setCommandSecondLevelDataAdapter="QUOTE_ADAPTER",
        )
        journal.wait("end of snapshot", of_kind("end-of-snapshot"), self.timeout)
        rows = [e for e in of_kind("update")(journal.entries()) if e[3].get("command") == "ADD"]
        keys = {row[3]["key"] for row in rows}
        expect(len(keys) >= 3 and all(key.startswith("item") for key in keys), f"wrong portfolio {keys}")
        expect(all(int(row[3]["qty"]) > 0 for row in rows), "quantity missing")
        journal.wait(
            "second level of every key of the snapshot",
            lambda entries: keys
            <= {e[3]["key"] for e in of_kind("update")(entries) if e[3].get("last_price") or e[3]["command"] == "DELETE"},
            self.timeout,
        )
        journal.wait(
            "changes of the first level",
            lambda entries: [e for e in of_kind("update")(entries) if not e[2] and "qty" in e[4]],
            self.timeout,
        )
        expect(not of_kind("second-level-error")(journal.entries()), "second-level errors")
        self.unsubscribe(subscription, journal)

    def raw(self):
        subscription, journal = self.subscribe("RAW", ["raw1"], ["number", "time", "text"], "RAW_FEED")

        def numbers(entries):
            found = [int(e[3]["number"]) for e in of_kind("update")(entries)]
            return found if len(found) >= 4 else None

        found = journal.wait("four events", numbers, self.timeout)
        expect(found == list(range(found[0], found[0] + len(found))), f"events lost or out of order: {found}")
        self.unsubscribe(subscription, journal)

    def documents(self):
        subscription, journal = self.subscribe(
            "MERGE", ["document1"], ["time", "document", "text"], "JSON_FEED"
        )

        def patched(entries):
            return [e for e in of_kind("update")(entries) if e[5].getValueAsJSONPatchIfAvailable("document")]

        journal.wait("a JSON Patch", patched, self.timeout * 2)
        for entry in of_kind("update")(journal.entries()):
            document = json.loads(entry[3]["document"])
            expect(f": {document['quantity']} pieces" in entry[3]["text"], f"document and text differ: {entry[3]}")
        self.unsubscribe(subscription, journal)

    def frequency(self):
        subscription, journal = self.subscribe(
            "MERGE", ["item1", "item2"], ["last_price", "time"], None, setRequestedMaxFrequency="1.0"
        )
        journal.wait("real frequency 1.0", lambda e: [x for x in of_kind("frequency")(e) if float(x[1]) == 1.0], self.timeout)
        subscription.setRequestedMaxFrequency("unlimited")
        journal.wait(
            "real frequency unlimited",
            lambda e: [x for x in of_kind("frequency")(e) if x[1] == "unlimited"],
            self.timeout,
        )
        self.unsubscribe(subscription, journal)

    def refusals(self):
        expected = [
            (("MERGE", ["nosuchitem"], ["last_price"], None), 21),
            (("MERGE", ["item1"], ["nosuchfield"], None), 23),
            (("DISTINCT", ["item1"], ["last_price"], None), 24),
            (("MERGE", ["item1"], ["last_price"], "NOSUCHADAPTER"), 17),
        ]
        for arguments, code in expected:
            _, journal = self.subscribe(*arguments)
            error = journal.wait(f"refusal {code}", of_kind("error"), self.timeout)[0]
            expect(error[1] == code, f"refused with {error} instead of {code}")

    def messages(self):
        journal = MessageJournal()
        self.client.sendMessage("plain", None, None, journal, True)
        for number in range(5):
            self.client.sendMessage(f"ECHO|{number}", "orders", None, journal, True)
        self.client.sendMessage("FAIL|-5|not, today", "orders", None, journal, True)
        self.client.sendMessage("FAIL|34|broken", "orders", None, journal, True)
        entries = journal.wait("all outcomes", lambda e: list(e) if len(e) >= 8 else None, self.timeout)
        ordered = [entry for entry in entries if entry[1] != "plain"]
        expect(("processed", "plain", "plain") in entries, f"plain message: {entries}")
        expect([e[2] for e in ordered[:5]] == ["0", "1", "2", "3", "4"], f"sequence out of order: {ordered}")
        expect(ordered[5] == ("denied", "FAIL|-5|not, today", -5, "not, today"), f"denial: {ordered[5]}")
        expect(ordered[6] == ("error", "FAIL|34|broken"), f"error: {ordered[6]}")


    def misbehave(self, script):
        request = urllib.request.Request(self.address + "/demo/faults", script.encode(), method="POST")
        with urllib.request.urlopen(request, timeout=self.timeout) as response:
            expect(response.status == 200, f"fault refused: {response.status}")

    def unbroken_over(self, script, statuses):
        """A stream of numbered events goes on without a gap, in the same session, whatever the script does."""
        subscription, journal = self.subscribe("RAW", ["raw2"], ["number"], "RAW_FEED")

        def numbers(entries):
            return [int(entry[3]["number"]) for entry in of_kind("update")(entries)]

        journal.wait("events before", lambda e: len(numbers(e)) >= 2, self.timeout)
        before = len(self.status.entries())
        count = len(numbers(journal.entries()))
        self.misbehave(script)
        journal.wait("events after " + script, lambda e: len(numbers(e)) >= count + 6, self.timeout * 2)
        found = numbers(journal.entries())
        expect(found == list(range(found[0], found[0] + len(found))), f"gap after {script}: {found}")
        seen = {entry[1] for entry in self.status.entries()[before:]}
        expect(seen <= statuses | {"CONNECTED:" + self.transport}, f"statuses after {script}: {seen}")
        expect(len(of_kind("subscribed")(journal.entries())) == 1, f"subscribed again after {script}")
        self.unsubscribe(subscription, journal)

    def recovery(self):
        if self.transport == "WS-POLLING":
            # The client does not see the end of a polling WebSocket before its idle time is over, and then it is late.
            return
        self.unbroken_over("drop at=data:1", {"DISCONNECTED:TRYING-RECOVERY"})
        self.unbroken_over("cut-line", {"DISCONNECTED:TRYING-RECOVERY"})
        self.unbroken_over("drop;progress by=-1", {"DISCONNECTED:TRYING-RECOVERY"})

    def mute_connection(self):
        if "STREAMING" in self.transport:
            self.unbroken_over("half-open", {"STALLED", "DISCONNECTED:TRYING-RECOVERY"})

    def loop(self):
        self.unbroken_over("loop", set())

    def split_writes(self):
        # One official client reads text by chunks; over WebSocket and by lines that must not matter.
        self.unbroken_over("split bytes=7 times=3;loop", set())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--transport", action="append", choices=TRANSPORTS)
    parser.add_argument("--timeout", type=float, default=15.0)
    parser.add_argument("--faults", action="store_true")
    arguments = parser.parse_args()
    failures = 0
    for transport in arguments.transport or TRANSPORTS:
        print(transport, flush=True)
        try:
            Check(arguments.address.rstrip("/"), transport, arguments.timeout, arguments.faults).run()
        except Failure as failure:
            failures += 1
            print(f"  FAILED: {failure}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
