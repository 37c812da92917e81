// The timeline of interruptions: when a session was cut, how long until it recovered, how many updates were lost.

import { clock, h, plural, setText } from "/assets/dom.js";

const most = 20;
const lossTime = 5000; // ms after a recovery in which the server reports what was lost by the interruption

const short = (milliseconds) => (milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`);

/** Takes the events of the stream; stays visible on all tabs once there was an interruption. */
export class RecoveryTimeline {
  #list = h("ol", { class: "timeline" });
  /** The clients whose session has worked, and the interruptions that go on, by client. */
  #connected = new Set();
  #open = new Map();
  /** The interruption that ended last, by client. */
  #ended = new Map();
  element = h("section", { class: "recovery", "aria-label": "Interruptions and recoveries", hidden: true }, h("h2", {}, "Recoveries"), this.#list);

  take(name, data) {
    if (name === "status") this.#status(data.client, data.status);
    else if (name === "lost-updates") this.#lost(data);
    else if (name === "update") this.#update(data.client);
  }

  #status(client, status) {
    const entry = this.#open.get(client);
    if (status.startsWith("CONNECTED:")) {
      this.#connected.add(client);
      if (entry) this.#end(entry);
    } else if (entry) {
      this.#tell(entry, status);
    } else if (this.#connected.has(client)) {
      this.#tell(this.#begin(client), status);
    }
  }

  #begin(client) {
    const line = h("li");
    const entry = { client, line, time: clock(Date.now()), at: performance.now(), lost: 0, wasCut: false, isNew: false };
    this.#open.set(client, entry);
    this.#list.prepend(line);
    while (this.#list.children.length > most) this.#list.lastChild.remove();
    this.element.hidden = false;
    return entry;
  }

  #tell(entry, status) {
    entry.wasCut ||= status.startsWith("DISCONNECTED");
    entry.isNew ||= status === "DISCONNECTED:WILL-RETRY" || status === "DISCONNECTED";
    this.#show(entry);
  }

  #end(entry) {
    entry.took = performance.now() - entry.at;
    this.#open.delete(entry.client);
    this.#ended.set(entry.client, entry);
    this.#show(entry);
  }

  /** Later losses, those of other sessions and those of the reader's own window have other causes. */
  #lost({ client, count, by }) {
    const entry = this.#open.get(client) ?? this.#ended.get(client);
    if (by !== "server" || !entry || performance.now() - entry.at - entry.took > lossTime) return;
    entry.lost += count;
    this.#show(entry);
  }

  /** Updates prove that a session works, and the first one after an interruption that it has recovered. */
  #update(client) {
    if (client) this.#connected.add(client);
    const entry = this.#ended.get(client);
    if (!entry || entry.first) return;
    entry.first = performance.now() - entry.at;
    this.#show(entry);
  }

  #show({ line, time, took, first, lost, wasCut, isNew }) {
    const steps = [time, `${wasCut ? "cut" : "silent"} 0 ms`];
    if (took === undefined) steps.push("recovering…");
    else {
      steps.push(`${isNew ? "new session" : "recovered"} ${short(took)}`);
      if (first) steps.push(`first update ${short(first)}`);
      // A new session begins with a snapshot, so that its losses are not known.
      steps.push(isNew ? "fresh snapshot" : `lost ${plural(lost, "update")}`);
    }
    line.dataset.state = took === undefined ? "busy" : lost ? "bad" : "good";
    setText(line, steps.join(" → "));
  }
}
