// The text of an event stream.

/** Reads Server-Sent Events: calls `take(events)` for the events of each piece that arrives. */
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
      else if (line.startsWith("retry: ")) retry = Number(line.slice(7));
      else if ((line === "" || line === "\r") && (data || retry)) {
        events.push({ name, id, data, retry });
        name = id = data = "";
        retry = undefined;
      }
    }
    take(events);
  }
}
