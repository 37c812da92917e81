"""Generates a client from /openapi.json with openapi-python-client, and uses it.

    python generated_client.py http://127.0.0.1:8080

Ends 0 if the client has a function for each operation of the contract, sends a message, reads a typed value and ten events of a feed,
creates a subscription, reads a value, prepares a stream, changes options, and deletes what it made.
"""

import importlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import requests

PACKAGE = "lightstreamer_gateway_client"


def generate(contract, folder):
    source = folder / "openapi.json"
    source.write_text(json.dumps(contract))
    program = pathlib.Path(sys.executable).with_name("openapi-python-client")
    command = [program, "generate", "--path", source, "--output-path", folder / "client", "--meta", "setup"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "removal of" not in done.stdout + done.stderr, done.stdout + done.stderr
    sys.path.insert(0, str(folder / "client"))


def snake_case(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def call(contract, name):
    """The module that the generator made of an operation."""
    for path in contract["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and operation.get("operationId") == name:
                return importlib.import_module(f"{PACKAGE}.api.{operation['tags'][0]}.{snake_case(name)}")
    raise AssertionError(f"no operation {name}")


def read_events(contract, client, count):
    """The data of the first updates of the feed `quotes`. The generator has no streams: only the request is generated."""
    request = call(contract, "stream")._get_kwargs(feed="quotes", items="item1,item2")
    request.setdefault("headers", {})["Accept"] = "application/x-ndjson"
    updates = []
    with client.get_httpx_client().stream(**request, timeout=30) as response:
        assert response.status_code == 200, response
        for line in response.iter_lines():
            event = json.loads(line)
            if event["event"] == "update":
                updates.append(event["data"])
            if len(updates) == count:
                return updates
    raise AssertionError("the stream has ended")


def main(address):
    contract = requests.get(address + "/openapi.json", timeout=60).json()
    with tempfile.TemporaryDirectory() as folder:
        generate(contract, pathlib.Path(folder))
        for path in contract["paths"].values():
            for operation in path.values():
                if isinstance(operation, dict):
                    call(contract, operation["operationId"])
        models = importlib.import_module(f"{PACKAGE}.models")
        package = importlib.import_module(PACKAGE)
        # Type checkers take the later one of two classes with one name.
        assert not set(package.__all__) & set(models.__all__), package.__all__
        client = package.Client(base_url=address)

        # Before anything opens a session: without enqueueWhileDisconnected the message waits for one.
        message = models.NewMessage(text="CHAT|hello")
        sent = call(contract, "sendMessageToUpstream").sync(client=client, body=message, prefer="wait=20")
        assert sent.outcome.value == "processed", sent

        row = call(contract, "readQuotesItem").sync("item1", client=client)
        assert isinstance(row.last_price, float) and isinstance(row.stock_name, str), row
        for update in read_events(contract, client, 10):
            assert all(isinstance(update["fields"].get(name, 0), (int, float)) for name in ["last_price"]), update

        body = models.NewSubscription.from_dict(
            {"upstream": "demo", "mode": "MERGE", "items": ["item1"], "fields": ["last_price", "time"]}
        )
        made = call(contract, "createSubscription").sync_detailed(client=client, body=body, prefer="wait=20")
        assert made.status_code == 201 and made.parsed.subscribed, made
        arguments = {"id": made.parsed.id, "item": "item1", "field": "last_price", "client": client}
        value = call(contract, "getValue").sync_detailed(**arguments)
        if value.parsed.value is None:
            # The snapshot has not arrived yet: a long poll waits for it.
            tag = value.headers["ETag"]
            value = call(contract, "getValue").sync_detailed(**arguments, if_none_match=tag, prefer="wait=20")
        assert float(value.parsed.value) > 0, value
        table = call(contract, "getValues").sync(made.parsed.id, client=client)
        assert table.items[0].item == "item1", table
        listed = call(contract, "listSubscriptions").sync(client=client)
        assert made.parsed.id in [subscription.id for subscription in listed.subscriptions], listed
        prepared = models.NewStreamOfSources(sources=[models.SubscriptionSource(subscription=made.parsed.id)])
        stream = call(contract, "createStream").sync(client=client, body=prepared)
        assert stream.sources[0].subscription == made.parsed.id, stream
        gone = call(contract, "deleteSubscription").sync_detailed(made.parsed.id, client=client)
        assert gone.status_code == 204, gone

        session = call(contract, "createClient").sync(
            client=client, body=models.NewClientByUpstream.from_dict({"upstream": "demo", "connect": False})
        )
        patch = models.ConnectionOptionsPatch.from_dict({"retryDelay": 7})
        options = call(contract, "patchClientOptions").sync(session.id, client=client, body=patch)
        assert options.retry_delay == 7, options
        missing = call(contract, "getSubscription").sync("none", client=client)
        assert missing.code.value == "unknown-subscription", missing


main(sys.argv[1].rstrip("/"))
