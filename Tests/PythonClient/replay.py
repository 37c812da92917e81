"""Records the demo server and a feed, interrupts the recorder, continues, and replays the files to the official client.

usage: python replay.py BINARY

Needs the package lightstreamer-client-lib. The exit status is 0 if two replays of the file cause identical callbacks, those
callbacks have the bytes of the values that a client saw on the server that was recorded, and an injected update arrives.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request

from lightstreamer.client import LightstreamerClient, Subscription

from official_client import Failure, SubscriptionJournal, expect

TIMEOUT = 60
ITEMS = [f"item{number}" for number in range(1, 31)]
FIELDS = ["stock_name", "last_price", "time", "pct_change", "bid_quantity", "bid", "ask", "ask_quantity", "min", "max",
          "ref_price", "open_price", "item_status"]


class Program:
    """A process of the program, with its standard output."""

    def __init__(self, binary, *arguments):
        self.process = subprocess.Popen([binary, *arguments], stdout=subprocess.PIPE, text=True)

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def address(self):
        return self.line().split(" ")[-1]

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=TIMEOUT)
        return rest


class Reader:
    """An official client with a subscription."""

    def __init__(self, address, mode="MERGE", items=ITEMS, fields=FIELDS, adapter=None):
        self.journal = SubscriptionJournal()
        self.client = LightstreamerClient(address, "DEMO")
        subscription = Subscription(mode, items, fields)
        if adapter:
            subscription.setDataAdapter(adapter)
        subscription.setRequestedSnapshot("yes")
        subscription.addListener(self.journal)
        self.client.subscribe(subscription)
        self.client.connect()

    def callbacks(self):
        """What the callbacks have said, without the objects of updates."""
        return [entry[:5] if entry[0] == "update" else entry for entry in self.journal.entries()]

    def rows(self):
        """The values of all updates, by item."""
        rows = {}
        for entry in self.callbacks():
            if entry[0] == "update":
                rows.setdefault(entry[1], []).append(tuple(entry[3].get(field) for field in FIELDS))
        return rows

    def wait_for_updates(self, count):
        def enough(entries):
            return sum(entry[0] == "update" for entry in entries) >= count

        self.journal.wait(f"{count} updates", enough, TIMEOUT)

    def close(self):
        self.client.disconnect()


def record(binary, server, file, count):
    return Program(binary, "record", file, "--upstream", server, "--adapter-set", "DEMO", "--items", ",".join(ITEMS),
                   "--fields", ",".join(FIELDS), "--count", str(count))


def replay(binary, file, count, injects=True):
    """The callbacks of a replay up to a number of updates, the last of the file, behind which another one is injected."""
    server = Program(binary, "demo-server", "--port", "0", "--faults", "--replay", file, "--speed", "10")
    try:
        address = server.address()
        reader = Reader(address)
        reader.wait_for_updates(count)
        before, rows = reader.callbacks(), reader.rows()
        if injects:
            body = json.dumps({"item": "item3", "fields": {"last_price": "0.01"}}).encode()
            request = urllib.request.Request(f"{address}/v1/updates", body, method="POST")
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
                expect(json.load(response) == {"subscriptions": 1}, "the injected update reaches the subscription")
            reader.wait_for_updates(count + 1)
            injected = reader.callbacks()[-1]
            expect(injected[1] == "item3" and injected[4] == {"last_price": "0.01"}, f"injected {injected}")
        reader.close()
        return before, rows
    finally:
        server.end()


def is_run_of(part, whole):
    """Whether the rows stand in the others one after another."""
    return any(whole[start:start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def expect_runs(rows, original):
    """Expects that the rows of each item are two runs of those that a client saw on the recorded server."""
    for item, replayed in rows.items():
        is_same = any(is_run_of(replayed[:end], original[item]) and is_run_of(replayed[end:], original[item])
                      for end in range(1, len(replayed) + 1))
        expect(is_same, f"{item}: the values are those of the server: {replayed} of {original[item]}")


def check(binary, folder):
    file, crashed = os.path.join(folder, "quotes.lsrec"), os.path.join(folder, "crashed.lsrec")
    server = Program(binary, "demo-server", "--port", "0")
    try:
        address = server.address()
        witness = Reader(address)
        witness.wait_for_updates(len(ITEMS))

        # Two recordings in one file. What a crash leaves of a block is behind the first.
        for count in (60, 90):
            recorder = record(binary, address, file, count)
            lines = recorder.process.communicate(timeout=TIMEOUT)[0].splitlines()
            expect(recorder.process.returncode == 0, "the recorder ends with status 0")
            expect(lines[0] == f"recording: {file}", f"the recorder says {lines[0]}")
            expect(lines[-1].startswith(f"recorded: {count} updates, "), f"the recorder says {lines[-1]}")
            if count == 60:
                with open(file, "ab") as end:
                    end.write(b"B\x10")

        # A recorder that is killed some seconds after its first block.
        recorder = record(binary, address, crashed, 100_000)
        recorder.line()
        for part in range(3):
            seen = sum(entry[0] == "update" for entry in witness.callbacks())
            witness.wait_for_updates(seen + 2 * len(ITEMS))
        recorder.end(signal.SIGKILL)
        original = witness.rows()
        witness.close()
    finally:
        server.end()

    # The first snapshot, the updates after it, and the second snapshot with its updates.
    one, rows = replay(binary, file, 150)
    two, _ = replay(binary, file, 150)
    expect(one == two, "two replays cause the same callbacks")
    expect_runs(rows, original)
    _, rows = replay(binary, crashed, len(ITEMS) + 10, injects=False)
    expect_runs(rows, original)

    with open(file, "r+b") as damaged:
        damaged.seek(40)
        byte = damaged.read(1)[0]
        damaged.seek(40)
        damaged.write(bytes([byte ^ 1]))
    for arguments in (["demo-server", "--port", "0", "--replay", file],
                      ["record", file, "--upstream", address, "--items", "item1", "--fields", "time"]):
        refused = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=TIMEOUT)
        expect(refused.returncode == 65, f"status {refused.returncode}")
        expect("byte 8: the checksum of a frame's content is wrong" in refused.stderr, refused.stderr)


def check_feed(binary, folder):
    """Records a feed in COMMAND mode through a gateway, and replays it."""
    file = os.path.join(folder, "portfolio.lsrec")
    demo = Program(binary, "demo", "--port", "0", "--demo-port", "0")
    try:
        arguments = [binary, "record", file, "--feed", "portfolio", "--gateway", demo.address(), "--count", "8"]
        recorded = subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT)
        expect(recorded.returncode == 0, recorded.stderr)
    finally:
        demo.end()

    def replayed():
        server = Program(binary, "demo-server", "--port", "0", "--replay", file, "--speed", "20", "--from", "0.001")
        try:
            reader = Reader(server.address(), "COMMAND", ["portfolio1"], ["key", "command", "qty"], "PORTFOLIO_ADAPTER")
            reader.wait_for_updates(8)
            callbacks = reader.callbacks()
            reader.close()
            return callbacks
        finally:
            server.end()

    one = replayed()
    expect(one == replayed(), "two replays of a feed cause the same callbacks")
    updates = [entry for entry in one if entry[0] == "update"]
    expect([entry[2] for entry in updates] == 5 * [True] + 3 * [False], f"a snapshot of five keys: {updates}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(sys.argv[1], folder)
            check_feed(sys.argv[1], folder)
        except Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    # The client library leaves threads behind.
    os._exit(status)
