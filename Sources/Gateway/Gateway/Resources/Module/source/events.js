// The text of an event stream.

/** Reads Server-Sent Events: calls `take(events)` for the events of each piece that arrives, and waits for it. */
export async function read(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", name = "", id = "", data = "", retry;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    const events = [];
    for (const line of lines) {
      if (line.startsWith("data: ")) data += line.slice(6);
      else if (line.startsWith("event: ")) name = line.slice(7);
      else if (line.startsWith("id: ")) id = line.slice(4);
      else if (line.startsWith("retry: ")) retry = +line.slice(7);
      else if (!line && (data || retry)) {
        // A large piece is split into lines by one task, but becomes events in several.
        if (events.push({ name, id, data, retry }) > 200) await take(events.splice(0));
        name = id = data = "";
        retry = undefined;
      }
    }
    await take(events);
  }
}
