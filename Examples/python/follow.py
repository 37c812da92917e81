"""Follows quotes, resumes after an interruption, and waits as long as the gateway asks for while it cannot be reached.

    pip install httpx
    GATEWAY_TOKEN=… python follow.py http://127.0.0.1:8080 [COUNT]
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import aclosing

from gateway_client import Refused, Subscription, follow

QUOTES = {"upstream": "demo", "mode": "MERGE", "items": ["item1", "item2"], "fields": ["stock_name", "last_price"]}


async def token(is_renewed: bool) -> str | None:
    return os.environ.get("GATEWAY_TOKEN")


def show_state(state: str, reason: str) -> None:
    print(f"{state}: {reason}", file=sys.stderr)


async def main(address: str, most: int | None) -> None:
    count = 0
    async with aclosing(follow(address, Subscription(QUOTES), token=token, state=show_state)) as updates:
        async for subscription, update in updates:
            print(update["item"], subscription.rows[update["item"]], flush=True)
            count += 1
            if count == most:
                return


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None))
    except Refused as refusal:
        sys.exit(f"refused: {refusal}")
