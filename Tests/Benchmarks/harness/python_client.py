"""The official Python client on the bytes of LineSender: prints what its process spent between first and last update.

    python_client.py PORT
"""

import json
import sys
import threading
import time

from lightstreamer.client import LightstreamerClient, Subscription, SubscriptionListener

ITEMS = [f"item{number}" for number in range(1, 31)]
FIELDS = ["name", "last_price", "time", "pct_change", "quantity", "status"]


class Listener(SubscriptionListener):
    """Does as little as possible with an update, so that the client is measured."""

    def __init__(self):
        self.started = None
        self.ended = threading.Event()
        self.count = 0
        self.result = {}

    def onItemUpdate(self, update):
        """Counts updates; the first one starts the measurement, the one marked as the last stops it."""
        if self.started is None:
            self.started = (time.process_time(), time.monotonic())
        self.count += 1
        if update.getValue("status") == "end":
            cpu, wall = self.started
            self.result = {"lines": self.count, "cpu": time.process_time() - cpu, "wall": time.monotonic() - wall}
            self.ended.set()


def main():
    """Subscribes and waits for the end."""
    client = LightstreamerClient(f"http://127.0.0.1:{sys.argv[1]}", "DEMO")
    client.connectionOptions.setForcedTransport("HTTP-STREAMING")
    subscription = Subscription("MERGE", ITEMS, FIELDS)
    subscription.setRequestedSnapshot("yes")
    listener = Listener()
    subscription.addListener(listener)
    client.subscribe(subscription)
    client.connect()
    if not listener.ended.wait(120):
        sys.exit("the last update did not come")
    print(json.dumps(listener.result))
    client.disconnect()


main()
