// The members of the cluster, and the callers with what they use of their limits.

import { count, h, setText } from "/assets/dom.js";
import { keep, setOptional, tableCard } from "/assets/lists.js";
import { rights } from "/assets/rights.js";

const seconds = (lag) => (lag < 0.001 ? "none" : `${lag < 10 ? lag.toFixed(2) : count(lag)} s`);

export class MembersTable {
  #body = h("tbody");
  element = tableCard("Cluster", "Members of the cluster", [["member"], ["name"], ["role"], ["version"], ["subscriptions owned", "number"], ["lag", "number"]],
    this.#body);

  show(cluster) {
    this.element.hidden = !cluster;
    if (!cluster) return;
    keep(this.#body, cluster.members, ({ id }) => id, () => this.#make(), (view, member) => {
      const isThis = member.id === cluster.member;
      setText(view.id, isThis ? `${member.id} (this one)` : member.id);
      setText(view.name, member.name);
      setText(view.role, role(cluster, member, isThis));
      setText(view.version, member.version);
      setText(view.owned, count(member.subscriptions));
      // Only this member knows how far it is behind the log.
      setText(view.lag, isThis ? seconds(cluster.lag) : "–");
      view.role.classList.toggle("warning", member.configurationDiffers || (isThis && cluster.degraded));
    });
  }

  #make() {
    const view = { id: h("th", { scope: "row" }), name: h("td"), role: h("td"), version: h("td"), owned: h("td", { class: "number" }), lag: h("td", { class: "number" }) };
    view.elements = [h("tr", {}, Object.values(view))];
    return view;
  }
}

function role(cluster, member, isThis) {
  const parts = [member.subscriptions ? "owns subscriptions" : "reads for its own streams"];
  if (isThis && cluster.degraded) parts.push("serves alone: the engine is away");
  if (isThis && !cluster.serving) parts.push("opens no streams");
  if (member.configurationDiffers) parts.push("has another configuration");
  return parts.join(", ");
}

const uses = ["streams", "subscriptions", "items"];

export class CallersTable {
  #body = h("tbody");
  #note = h("p", { class: "note" }, "Used at all members. Streams of a caller without a limit of streams are those of this member.");
  element = tableCard("Callers", "Callers and what they use of their limits", [["caller"], ...uses.map((name) => [name, "number"])], this.#body);

  constructor() { this.element.append(this.#note); }

  /** `cluster` is that of `/health`; undefined for a gateway that is alone. */
  show(cluster) {
    this.#note.hidden = !cluster;
    const { identity, callers = [] } = rights.session ?? {};
    this.element.hidden = callers.length === 0;
    keep(this.#body, callers, (caller) => caller.identity, () => this.#make(), (view, caller) => {
      setText(view.name, caller.identity === identity ? `${caller.identity} (this page)` : caller.identity);
      for (const name of uses) {
        const { used, limit } = caller[name];
        setOptional(view[name], limit === null ? count(used) : `${count(used)} of ${count(limit)}`);
        view[name].classList.toggle("warning", limit !== null && used >= limit * 0.9);
      }
    });
  }

  #make() {
    const view = { name: h("th", { scope: "row" }) };
    for (const name of uses) view[name] = h("td", { class: "number" });
    view.elements = [h("tr", {}, Object.values(view))];
    return view;
  }
}
