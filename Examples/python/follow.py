"""Follows quotes, resumes after an interruption, and retries with increasing delays while the gateway is unreachable.

    pip install httpx httpx-sse
    GATEWAY_TOKEN=… python follow.py http://127.0.0.1:8080 [COUNT]
"""

import json
import os
import random
import sys
import time

import httpx
from httpx_sse import connect_sse

QUERY = {"upstream": "demo", "mode": "MERGE", "items": "item1,item2", "fields": "stock_name,last_price"}
LONGEST_DELAY = 30


def updates(gateway):
    """Yields updates without end."""
    headers = {}
    if token := os.environ.get("GATEWAY_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    attempts = 0
    # The gateway sends a comment every 15 seconds, so a silence of 60 means that the connection is lost.
    with httpx.Client(base_url=gateway, timeout=httpx.Timeout(10, read=60)) as client:
        while True:
            try:
                with connect_sse(client, "GET", "/v1/stream", params=QUERY, headers=headers) as source:
                    source.response.raise_for_status()
                    for event in source.iter_sse():
                        attempts = 0
                        if event.id:
                            headers["Last-Event-ID"] = event.id
                        if event.event == "subscription-error":
                            raise SystemExit(f"refused: {event.data}")
                        if event.event == "update":
                            yield json.loads(event.data)
            except httpx.HTTPStatusError as error:
                if error.response.status_code < 500 and error.response.status_code != 429:
                    raise
            except httpx.TransportError:
                pass
            attempts += 1
            time.sleep(random.uniform(0.5, 1) * min(LONGEST_DELAY, 0.5 * 2**attempts))


if __name__ == "__main__":
    most = int(sys.argv[2]) if len(sys.argv) > 2 else None
    for number, update in enumerate(updates(sys.argv[1]), start=1):
        print(update["item"], update["fields"], flush=True)
        if number == most:
            break
