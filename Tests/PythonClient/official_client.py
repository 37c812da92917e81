"""Drives the official Lightstreamer client library for Python against a demo server.

usage: python official_client.py http://127.0.0.1:PORT [--transport WS-STREAMING …] [--timeout SECONDS] [--faults]

Needs the package lightstreamer-client-lib. Every transport is forced in turn and goes through the same checks;
the exit status is 0 if all of them hold, 1 if one does not, 2 for wrong usage. --faults adds checks for which the
server misbehaves; it has to accept that from clients (POST /demo/faults), and must have no other clients meanwhile.
"""

import argparse
import json
import sys
import threading
import time
import urllib.parse
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
    """A check that failed."""


class Journal:
    """A list whose entries can be waited for."""

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

    def onPropertyChange(self, name):
        self.add(("property", name))


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


def is_number(text, wanted):
    """Whether both texts are the same number, or the same word."""
    try:
        return float(text) == float(wanted)
    except (TypeError, ValueError):
        return text == wanted


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
        options = self.client.connectionOptions
        options.setForcedTransport(transport)
        # Silence is detected soon; these times do not delay a successful run.
        options.setKeepaliveInterval(1000)
        options.setStalledTimeout(1500)
        options.setReconnectTimeout(1500)
        options.setIdleTimeout(2000)
        self.status = StatusJournal()
        self.client.addListener(self.status)

    def run(self):
        steps = [
            self.refused_adapter_set,
            self.connects,
            self.merge,
            self.distinct_and_chat,
            self.two_level_command,
            self.raw,
            self.documents,
            self.frequency,
            self.bandwidth,
            self.refusals,
            self.messages,
            self.switches_transport,
        ]
        if self.with_faults:
            steps += [
                self.message_gap,
                self.recovery,
                self.silence,
                self.loop,
                self.split_writes,
                self.refreshed_session,
                self.refused_user,
            ]
        steps += [self.disconnects]
        try:
            for step in steps:
                started = time.monotonic()
                step()
                print(f"  {self.transport:14} {step.__name__:20} ok {time.monotonic() - started:6.2f} s", flush=True)
            errors = of_kind("server-error")(self.status.entries())
            expect(not errors, f"server errors: {errors}")
        finally:
            self.client.disconnect()

    def await_status(self, status, since=0):
        self.status.wait(
            f"status {status}", lambda entries: ("status", status) in entries[since:], self.timeout
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
        earlier = len(of_kind("unsubscribed")(journal.entries()))
        self.client.unsubscribe(subscription)
        journal.wait("unsubscription", lambda e: len(of_kind("unsubscribed")(e)) > earlier, self.timeout)
        before = len(journal.entries())
        expect(journal.entries()[before - 1] == ("unsubscribed",), "something came after the unsubscription")

    def refused_adapter_set(self):
        stranger = LightstreamerClient(self.address, "NOSUCHSET")
        stranger.connectionOptions.setForcedTransport(self.transport)
        journal = StatusJournal()
        stranger.addListener(journal)
        stranger.connect()
        error = journal.wait("refusal of the adapter set", of_kind("server-error"), self.timeout)[0]
        expect(error[1] == 2, f"refused with {error}")
        journal.wait("end", lambda entries: ("status", "DISCONNECTED") in entries, self.timeout)

    def connects(self):
        since = len(self.status.entries())
        self.client.connect()
        self.await_status("CONNECTED:" + self.transport, since)
        details = self.client.connectionDetails
        expected = {"sessionId", "serverSocketName", "clientIp", "realMaxBandwidth"}
        self.status.wait(
            "property events",
            lambda entries: expected <= {entry[1] for entry in of_kind("property")(entries[since:])},
            self.timeout,
        )
        expect(details.getSessionId().startswith("S"), f"session ID {details.getSessionId()}")
        expect(details.getServerSocketName() == "Embedded demo server", f"{details.getServerSocketName()}")
        expect(details.getClientIp() == "127.0.0.1", f"client address {details.getClientIp()}")
        expect(self.client.connectionOptions.getRealMaxBandwidth() == "unlimited", "bandwidth")
        if "STREAMING" in self.transport:
            expect(self.client.connectionOptions.getKeepaliveInterval() == 1000, "keepalive interval")
        else:
            expect(self.client.connectionOptions.getIdleTimeout() == 2000, "idle timeout")
            expect(self.client.connectionOptions.getPollingInterval() == 0, "polling interval")

    def disconnects(self):
        subscription, journal = self.subscribe("MERGE", ["item3"], ["last_price"])
        journal.wait("subscription", of_kind("subscribed"), self.timeout)
        before = self.client.connectionDetails.getSessionId()
        since = len(self.status.entries())
        self.client.disconnect()
        self.await_status("DISCONNECTED", since)
        journal.wait("end of the subscription", of_kind("unsubscribed"), self.timeout)
        expect(subscription.isActive(), "the subscription is not active any more")
        messages = MessageJournal()
        self.client.sendMessage("too late", None, None, messages, False)
        expect(
            messages.wait("abortion", list, self.timeout) == [("aborted", "too late", False)], "message not aborted"
        )
        self.connects()
        journal.wait("second subscription", lambda e: len(of_kind("subscribed")(e)) == 2, self.timeout)
        expect(self.client.connectionDetails.getSessionId() != before, "the same session again")
        self.unsubscribe(subscription, journal)
        since = len(self.status.entries())
        self.client.disconnect()
        self.await_status("DISCONNECTED", since)

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
        text = f"caffè €5, 50% off | & \"A+B\"=ok 😀 over {self.transport} at {time.time_ns()}"
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
        for wanted, real in [(None, "1.0"), ("unlimited", "unlimited"), ("0.5", "0.5"), ("2.5", "2.5")]:
            if wanted:
                subscription.setRequestedMaxFrequency(wanted)
            journal.wait(
                f"real frequency {real}",
                lambda e: any(is_number(entry[1], real) for entry in of_kind("frequency")(e)[-1:]),
                self.timeout,
            )
        self.unsubscribe(subscription, journal)
        subscription, journal = self.subscribe(
            "MERGE", ["item1"], ["last_price"], None, setRequestedMaxFrequency="unfiltered"
        )
        journal.wait("real frequency", of_kind("frequency"), self.timeout)
        self.unsubscribe(subscription, journal)

    def bandwidth(self):
        options = self.client.connectionOptions
        for wanted, real in [("40", "40.0"), ("12.5", "12.5"), ("unlimited", "unlimited")]:
            options.setRequestedMaxBandwidth(wanted)
            self.status.wait(
                f"real bandwidth {real}", lambda _: is_number(options.getRealMaxBandwidth(), real), self.timeout
            )

    def refusals(self):
        expected = [
            (("MERGE", ["nosuchitem"], ["last_price"], None), 21),
            (("MERGE", ["item1"], ["nosuchfield"], None), 23),
            (("DISTINCT", ["item1"], ["last_price"], None), 24),
            (("MERGE", ["item1"], ["last_price"], "NOSUCHADAPTER"), 17),
        ]
        for arguments, code in expected:
            subscription, journal = self.subscribe(*arguments)
            error = journal.wait(f"refusal {code}", of_kind("error"), self.timeout)[0]
            expect(error[1] == code, f"refused with {error} instead of {code}")
            expect(not subscription.isActive(), "active after its refusal")
        # Groups and schemas are the server's to interpret; a client that knows neither cannot check them before.
        for mode, group, schema, code in [
            ("COMMAND", "portfolio1", "command qty", 15),
            ("COMMAND", "portfolio1", "key qty", 16),
            ("MERGE", "item1 nosuchitem", "last_price", 21),
            ("MERGE", "item1", "last_price nosuchfield", 23),
            ("RAW", "item1", "last_price", 24),
        ]:
            subscription = Subscription(mode, None, None)
            subscription.setItemGroup(group)
            subscription.setFieldSchema(schema)
            subscription.setDataAdapter("PORTFOLIO_ADAPTER" if mode == "COMMAND" else "QUOTE_ADAPTER")
            journal = SubscriptionJournal()
            subscription.addListener(journal)
            self.client.subscribe(subscription)
            error = journal.wait(f"refusal {code}", of_kind("error"), self.timeout)[0]
            expect(error[1] == code, f"{group} {schema} refused with {error} instead of {code}")

    def messages(self):
        journal = MessageJournal()
        self.client.sendMessage("plain", None, None, journal, True)
        for number in range(5):
            self.client.sendMessage(f"ECHO|{number}", "orders", None, journal, True)
        self.client.sendMessage("FAIL|-5|not, today", "orders", None, journal, True)
        self.client.sendMessage("FAIL|34|broken", "orders", None, journal, True)
        self.client.sendMessage("FAIL|38|skipped", "orders", None, journal, True)
        entries = journal.wait("all outcomes", lambda e: list(e) if len(e) >= 9 else None, self.timeout)
        ordered = [entry for entry in entries if entry[1] != "plain"]
        expect(("processed", "plain", "plain") in entries, f"plain message: {entries}")
        expect([e[2] for e in ordered[:5]] == ["0", "1", "2", "3", "4"], f"sequence out of order: {ordered}")
        expect(ordered[5] == ("denied", "FAIL|-5|not, today", -5, "not, today"), f"denial: {ordered[5]}")
        expect(ordered[6] == ("error", "FAIL|34|broken"), f"error: {ordered[6]}")
        expect(ordered[7] == ("discarded", "FAIL|38|skipped"), f"discarded: {ordered[7]}")

    def switches_transport(self):
        other = TRANSPORTS[(TRANSPORTS.index(self.transport) + 1) % len(TRANSPORTS)]

        def switch():
            for transport in [other, self.transport]:
                since = len(self.status.entries())
                self.client.connectionOptions.setForcedTransport(transport)
                self.await_status("CONNECTED:" + transport, since)

        self.unbroken_over("switch to " + other, switch, {"CONNECTED:" + other})

    def misbehave(self, script):
        request = urllib.request.Request(self.address + "/demo/faults", script.encode(), method="POST")
        with urllib.request.urlopen(request, timeout=self.timeout) as response:
            expect(response.status == 200, f"fault refused: {response.status}")

    def unbroken_over(self, what, act, statuses):
        """A stream of numbered events goes on without a gap, in the same session, whatever is done."""
        subscription, journal = self.subscribe("RAW", ["raw2"], ["number"], "RAW_FEED")

        def numbers(entries):
            return [int(entry[3]["number"]) for entry in of_kind("update")(entries)]

        journal.wait("events before", lambda e: len(numbers(e)) >= 2, self.timeout)
        before = len(self.status.entries())
        session = self.client.connectionDetails.getSessionId()
        act()
        count = len(numbers(journal.entries()))
        journal.wait("events after " + what, lambda e: len(numbers(e)) >= count + 3, self.timeout * 2)
        if "DISCONNECTED:TRYING-RECOVERY" in statuses:
            # What was under way may still have come; the events that count are those after the recovery.
            self.status.wait(
                "recovery after " + what,
                lambda e: ("status", "CONNECTED:" + self.transport) in e[before:],
                self.timeout * 2,
            )
            count = len(numbers(journal.entries()))
            journal.wait("events after the recovery", lambda e: len(numbers(e)) >= count + 3, self.timeout * 2)
        found = numbers(journal.entries())
        expect(found == list(range(found[0], found[0] + len(found))), f"gap after {what}: {found}")
        seen = {entry[1] for entry in of_kind("status")(self.status.entries()[before:])}
        allowed = statuses | {"CONNECTED:" + self.transport, "STALLED"}
        expect(seen <= allowed, f"statuses after {what}: {seen}")
        expect(self.client.connectionDetails.getSessionId() == session, f"another session after {what}")
        expect(len(of_kind("subscribed")(journal.entries())) == 1, f"subscribed again after {what}")
        self.unsubscribe(subscription, journal)

    def unbroken_by(self, script, statuses):
        self.unbroken_over(script, lambda: self.misbehave(script), statuses)

    def message_gap(self):
        if "HTTP" in self.transport:
            # Over HTTP the client sends a message that got no answer again before the others.
            return
        journal = MessageJournal()
        self.misbehave("ignore at=msg")
        self.client.sendMessage("ECHO|lost", "gap", 200, journal, True)
        self.client.sendMessage("ECHO|kept", "gap", 200, journal, True)
        entries = journal.wait("both outcomes", lambda e: list(e) if len(e) >= 2 else None, self.timeout)
        expect(
            entries == [("discarded", "ECHO|lost"), ("processed", "ECHO|kept", "kept")], f"outcomes of a gap: {entries}"
        )

    def interrupted_by(self, effect, further=""):
        # Between two polls there is no stream that could be struck: the next one is, once it has data.
        moment = " at=data:1" if "POLLING" in self.transport else ""
        self.unbroken_by(effect + moment + further, {"STALLED", "DISCONNECTED:TRYING-RECOVERY"})

    def recovery(self):
        self.interrupted_by("drop", ";progress by=-2")
        self.interrupted_by("cut-line bytes=3")

    def silence(self):
        self.interrupted_by("half-open")

    def loop(self):
        self.unbroken_by("loop", set())

    def split_writes(self):
        # One official client reads text by chunks; over WebSocket and by lines that must not matter.
        self.unbroken_by("split bytes=7 times=3;loop", set())

    def refreshed_session(self):
        subscription, journal = self.subscribe("MERGE", ["item4"], ["last_price"])
        journal.wait("subscription", of_kind("subscribed"), self.timeout)
        since = len(self.status.entries())
        self.misbehave("end code=48")
        journal.wait("second subscription", lambda e: len(of_kind("subscribed")(e)) == 2, self.timeout * 2)
        self.await_status("CONNECTED:" + self.transport, since)
        self.unsubscribe(subscription, journal)

    def refused_user(self):
        stranger = LightstreamerClient(self.address, "DEMO")
        stranger.connectionOptions.setForcedTransport(self.transport)
        stranger.connectionDetails.setUser("mallory")
        stranger.connectionDetails.setPassword("p&ss=+%")
        journal = StatusJournal()
        stranger.addListener(journal)
        for code, text in [(1, "User/password check failed"), (-7, "not, today")]:
            since = len(journal.entries())
            self.misbehave(f"refuse code={code} text={urllib.parse.quote(text, safe='')} at=create")
            stranger.connect()
            journal.wait(f"refusal {code}", lambda e: ("server-error", code, text) in e[since:], self.timeout)
            journal.wait("end", lambda e: ("status", "DISCONNECTED") in e[since:], self.timeout)


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
