"""Reads a stream with the SSE client from PyPI (sseclient-py), leaves, and resumes where it left.

    python event_stream.py http://127.0.0.1:8080

Ends 0 if the second connection reports that it was resumed and receives exactly the events that the first one received
after the event that it resumes from.
"""

import itertools
import json
import sys

import requests
import sseclient

STREAM = "/v1/stream?upstream=demo&mode=MERGE&items=item1,item2,item3&fields=last_price,time"


def events(address, last_event_id=None):
    headers = {"Accept": "text/event-stream"}
    if last_event_id:
        headers["Last-Event-ID"] = last_event_id
    response = requests.get(address + STREAM, headers=headers, stream=True, timeout=60)
    response.raise_for_status()
    return sseclient.SSEClient(response).events()


def main(address):
    first = list(itertools.islice((event for event in events(address) if event.event == "update"), 12))
    again = events(address, last_event_id=first[3].id)
    stream = next(again)
    if stream.event != "stream" or json.loads(stream.data)["resume"] != "resumed":
        raise RuntimeError(f"not resumed: {stream.event} {stream.data}")
    following = list(itertools.islice(again, 8))
    expected = [(event.id, event.data) for event in first[4:]]
    if [(event.id, event.data) for event in following] != expected:
        raise RuntimeError(f"{[event.id for event in following]} is not {[id for id, _ in expected]}")
    print(f"event stream: resumed, {len(following)} updates again")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as problem:  # Whatever it is, it is the answer.
        sys.exit(f"event stream: {problem}")
