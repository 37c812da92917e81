"""Uses the gateway's feeds by the official SDK of the Model Context Protocol.

usage: python model_context.py BINARY [--write]

Needs the package mcp. The exit status is 0 if the transcript of the conversation, without what changes from run to run, is that
of the file model_context.transcript beside this script; --write replaces the file.
"""

import asyncio
import json
import pathlib
import signal
import subprocess
import sys

from mcp import Client

TIMEOUT = 60
TRANSCRIPT = pathlib.Path(__file__).with_suffix(".transcript")
# Members whose values change from run to run.
VOLATILE = {"cursor", "nextCursor", "message", "age", "last_price", "time", "pct_change", "bid", "ask", "min", "max", "bid_quantity", "ask_quantity",
            "open_price", "ref_price", "version", "status", "stale"}


def steady(value, name=None):
    """A value of a response without the contents that change."""
    if isinstance(value, dict):
        return {key: steady(entry, key) for key, entry in value.items() if entry is not None}
    if isinstance(value, list):
        return [steady(entry, name) for entry in value]
    if name == "text" and isinstance(value, str) and value.startswith("{"):
        return steady(json.loads(value))
    return "…" if name in VOLATILE else value


class Transcript:
    def __init__(self):
        self.lines = []

    def add(self, what, result):
        content = steady(result.model_dump(mode="json", by_alias=True, exclude_none=True))
        self.lines.append(f"{what}\n    {json.dumps(content, ensure_ascii=False)}")

    async def failure(self, what, call):
        try:
            await call
            self.lines.append(f"{what}\n    no error")
        except Exception as error:
            self.lines.append(f"{what}\n    {type(error).__name__}: {error}")


async def converse(address):
    transcript = Transcript()
    notified = asyncio.Queue()

    async def receive(message):
        await notified.put(message)

    async with Client(f"{address}/mcp", mode="auto", message_handler=receive) as client:
        transcript.lines.append(f"initialize\n    {client.protocol_version}, {client.server_info.name}")
        transcript.add("tools/list", await client.list_tools())
        transcript.add("list_feeds", await client.call_tool("list_feeds", {"limit": 1}))
        quote = {"feed": "quotes", "items": ["item1"], "fields": ["stock_name", "last_price"]}
        values = await client.call_tool("read", quote)
        transcript.add("read", values)
        cursor = values.structured_content["cursor"]
        transcript.add("wait_for_change", await client.call_tool("wait_for_change", quote | {"cursor": cursor}))
        names = {"feed": "quotes", "items": ["item1"], "fields": ["stock_name"], "seconds": 1}
        transcript.add("wait_for_change in vain", await client.call_tool("wait_for_change", names))
        transcript.add("send", await client.call_tool("send", {"text": "ECHO|hello"}))
        transcript.add("read an unknown feed", await client.call_tool("read", {"feed": "x"}))
        transcript.add("read an unknown item", await client.call_tool("read", {"feed": "quotes", "items": ["x"]}))
        transcript.add("read without a feed", await client.call_tool("read", {}))
        await transcript.failure("an unknown tool", client.call_tool("x", {}))

        transcript.add("resources/list", await client.list_resources())
        transcript.add("resources/templates/list", await client.list_resource_templates())
        transcript.add("resources/read", await client.read_resource("feed://quotes/item1"))
        await transcript.failure("read an unknown resource", client.read_resource("feed://x"))
        transcript.add("resources/subscribe", await client.subscribe_resource("feed://quotes/item1"))
        for _ in range(2):
            transcript.add("notification", await asyncio.wait_for(notified.get(), TIMEOUT))
        transcript.add("resources/unsubscribe", await client.unsubscribe_resource("feed://quotes/item1"))
    return "\n".join(transcript.lines) + "\n"


def main():
    process = subprocess.Popen([sys.argv[1], "demo", "--port", "0", "--demo-port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().split(" ")[-1].strip()
        transcript = asyncio.run(asyncio.wait_for(converse(address), 2 * TIMEOUT))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(TIMEOUT)
    if "--write" in sys.argv:
        TRANSCRIPT.write_text(transcript)
    expected = TRANSCRIPT.read_text()
    for line, (one, other) in enumerate(zip(expected.splitlines() + [""], transcript.splitlines() + [""]), start=1):
        if one != other:
            print(f"line {line} of {TRANSCRIPT.name}: expected\n{one}\nbut the transcript has\n{other}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
