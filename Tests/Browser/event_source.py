"""Reads a stream with the EventSource of headless Chromium, closes it on the server's side, and looks at what follows.

    python event_source.py http://127.0.0.1:8080

Two sources read the same subscription; one of them is closed and reconnects by itself, with its Last-Event-ID. Ends 0 if
its stream was resumed and it received exactly the events of the other one, none twice and none left out.
"""

import sys

from browser import opened

OPEN = """(() => {
  const address = "/v1/stream?upstream=demo&mode=MERGE&items=item1,item2,item3&fields=last_price,time";
  window.readers = ["whole", "broken"].map(() => {
    const reader = { source: new EventSource(address), streams: [], updates: [] };
    reader.source.addEventListener("stream", (event) => reader.streams.push(JSON.parse(event.data)));
    reader.source.addEventListener("update", (event) => {
      if (!JSON.parse(event.data).snapshot) reader.updates.push(event.lastEventId);
    });
    return reader;
  });
  return "true";
})()"""

CLOSE = """(() => {
  fetch("/v1/streams/" + window.readers[1].streams[0].stream, { method: "DELETE" });
  return "true";
})()"""

LOOK = """JSON.stringify(window.readers.map(({ streams, updates }) => ({
  resumes: streams.map((stream) => stream.resume), updates,
})))"""


def main(address):
    with opened(address + "/") as page:
        page.until("JSON.stringify([location.pathname, document.readyState])", lambda seen: seen == ["/", "complete"])
        page.evaluate(OPEN)
        page.until(LOOK, lambda seen: all(len(reader["updates"]) >= 3 for reader in seen))
        page.evaluate(CLOSE)
        whole, broken = page.until(LOOK, lambda seen: len(seen[1]["resumes"]) == 2)
        last = broken["updates"][-1]
        whole, broken = page.until(
            LOOK, lambda seen: last in seen[1]["updates"] and seen[1]["updates"].index(last) + 5 < len(seen[1]["updates"])
        )
        if broken["resumes"] != ["fresh", "resumed"]:
            raise RuntimeError(f"the stream was not resumed: {broken['resumes']}")
        start = max(whole["updates"][0], broken["updates"][0], key=lambda event: int(event.rsplit("-", 1)[1]))
        expected = whole["updates"][whole["updates"].index(start):]
        seen = broken["updates"][broken["updates"].index(start):]
        both = min(len(expected), len(seen))
        if expected[:both] != seen[:both]:
            raise RuntimeError(f"{seen[:both]} is not {expected[:both]}")
    print(f"event source: resumed, {both} updates in both")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as problem:  # Whatever it is, it is the answer.
        sys.exit(f"event source: {problem}")
