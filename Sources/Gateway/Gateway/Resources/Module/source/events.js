// The text of an event stream.

/**
 * Reads Server-Sent Events: calls `take(events)` for the events of each piece that arrives, and waits for it. An event has the values of
 * its fields by their names; a comment is an event without fields.
 */
export async function read(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", event = {};
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    const events = [];
    for (const line of lines) {
      const end = line.indexOf(": ");
      if (end > 0) event[line.slice(0, end)] = line.slice(end + 2);
      else if (!line) {
        // A large piece is split into lines by one task, but becomes events in several.
        if (events.push(event) > 200) await take(events.splice(0));
        event = {};
      }
    }
    await take(events);
  }
}
