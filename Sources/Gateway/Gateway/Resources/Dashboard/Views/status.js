// The state of the page in words: one word for the whole, and a line of progress for each subscription.

import { duration, h, setText } from "/assets/dom.js";
import { docsLink } from "/assets/codes.js";

const words = {
  connected: { symbol: "●", text: "Connected" },
  connecting: { symbol: "◌", text: "Connecting" },
  reconnecting: { symbol: "↻", text: "Reconnecting" },
  stale: { symbol: "◐", text: "Stale" },
  refused: { symbol: "✕", text: "Refused" },
  gone: { symbol: "○", text: "Gone" },
  idle: { symbol: "–", text: "No subscription" },
};

const inSeconds = (moment) => Math.max(0, Math.ceil((moment - Date.now()) / 1000));

/** The word and the sentence for the whole page: the stream first, then the subscription that is shown. */
export function overall(stream, feed, isSilent) {
  const { state, reason, retryAt } = stream;
  if (state === "gone") {
    return { word: "gone", sentence: `The gateway does not answer. Next attempt in ${inSeconds(retryAt)} s.` };
  }
  if (state === "reconnecting") {
    const cause = reason ? `Stream closed: ${reason}` : "The stream was interrupted";
    return { word: "reconnecting", sentence: `${cause.replace(/\.$/, "")}. Next attempt in ${inSeconds(retryAt)} s.` };
  }
  if (state === "refused") return { word: "refused", sentence: reason ?? "", action: true };
  if (!feed) return { word: state === "open" ? "connected" : "idle", sentence: "" };
  if (feed.error) return { word: "refused", sentence: feed.error.text };
  if (isSilent) return { word: "stale", sentence: "The gateway stopped answering; the values may be old." };
  return feed.status ? ofClient(feed) : { word: "connecting", sentence: "Waiting for the upstream session." };
}

function ofClient(feed) {
  if (feed.isConnected) {
    return { word: "connected", sentence: `Upstream session over ${feed.status.slice("CONNECTED:".length)}.` };
  }
  if (feed.isUnreachable) {
    return { word: "reconnecting", sentence: `The upstream cannot be reached; the gateway tries again. ${feed.failure ?? ""}`.trim() };
  }
  const reason = feed.failure ? ` ${feed.failure}` : "";
  switch (feed.status) {
  case "STALLED": return { word: "stale", sentence: "The upstream is silent; the values may be old." };
  case "CONNECTING": return { word: "connecting", sentence: "The gateway connects to the upstream." };
  case "DISCONNECTED": return { word: "gone", sentence: "The upstream session has ended." };
  case "DISCONNECTED:TRYING-RECOVERY":
    return { word: "reconnecting", sentence: `The upstream connection was lost; the gateway recovers the session.${reason}` };
  default: return { word: "reconnecting", sentence: `The upstream connection was lost; the gateway connects again.${reason}` };
  }
}

/** Shows the word in the head of the page, and announces a change of it to screen readers. */
export class StatusBadge {
  #badge;
  #live;
  #action;
  #word = null;

  constructor(badge, live, action) {
    this.#badge = badge;
    this.#live = live;
    this.#action = action;
  }

  show({ word, sentence, action }) {
    const { symbol, text } = words[word];
    this.#badge.dataset.word = word;
    setText(this.#badge.querySelector(".symbol"), symbol);
    setText(this.#badge.querySelector(".word"), text);
    setText(this.#badge.querySelector(".sentence"), sentence);
    this.#action.hidden = !action;
    if (word !== this.#word) setText(this.#live, `${text}. ${sentence}`);
    this.#word = word;
  }
}

const steps = [
  { name: "gateway", label: "gateway" },
  { name: "upstream", label: "upstream" },
  { name: "subscribed", label: "subscribed" },
  { name: "value", label: "first value" },
];
const symbols = { done: "✓", busy: "…", failed: "✗", waiting: "○", lost: "↻" };
const spoken = { done: "done", busy: "in progress", failed: "failed", waiting: "waiting", lost: "interrupted" };

/** The state of each step: a step that is not done blocks the steps after it. */
export function progress(streamState, feed) {
  // A step can only fail after the steps before it are done.
  const failed = steps.findIndex(({ name }) => name === feed.error?.step);
  const done = [streamState === "open", feed.isConnected || failed > 1, feed.isSubscribed, feed.hasValue];
  const states = [];
  let isBlocked = false;
  steps.forEach(({ name }, index) => {
    let state = done[index] ? "done" : "busy";
    if (feed.error?.step === name || (name === "upstream" && !isBlocked && feed.isUnreachable)) {
      state = "failed";
    } else if (isBlocked) state = "waiting";
    else if (state === "busy" && feed.lastValueAt && index < 2) state = "lost";
    states.push({ name, state });
    if (state !== "done") isBlocked = true;
  });
  return states;
}

/** The line of progress of a subscription, with the reason where a step failed. */
export class ProgressLine {
  element = h("ol", { class: "progress", "aria-label": "Progress of this subscription" });
  problem = h("div", { class: "problem", role: "alert", hidden: true });
  #parts = new Map();

  constructor() {
    for (const { name, label } of steps) {
      const symbol = h("span", { class: "symbol", "aria-hidden": "true" });
      const state = h("span", { class: "visually-hidden" });
      const part = h("li", { data: { step: name } }, label, " ", symbol, state);
      this.#parts.set(name, { part, symbol, state });
      this.element.append(part);
    }
  }

  show(streamState, feed) {
    for (const { name, state } of progress(streamState, feed)) {
      const { part, symbol, state: words } = this.#parts.get(name);
      part.dataset.state = state;
      setText(symbol, symbols[state]);
      setText(words, ` ${spoken[state]}`);
    }
    this.#showProblem(feed.error);
  }

  #showProblem(error) {
    this.problem.hidden = !error;
    const text = error ? JSON.stringify(error) : "";
    if (this.problem.dataset.shown === text) return;
    this.problem.dataset.shown = text;
    if (!error) return this.problem.replaceChildren();
    const where = { gateway: "The gateway refused it", upstream: "The upstream refused the session",
                    subscribed: error.isRemoval ? "The upstream removed the subscription"
                      : "The upstream refused the subscription" }[error.step];
    const link = h("a", { href: docsLink(error.kind, error.code) }, `code ${error.code}`);
    this.problem.replaceChildren(
      h("p", {}, h("strong", {}, `✗ ${where}: `), error.text, " (", link,
        error.server ? `, “${error.server}”` : "", ")"),
      error.cure ? h("p", { class: "cure" }, error.cure) : "",
    );
  }
}

/** How old the values of a subscription are, and whether they may be out of date. */
export function age(streamState, feed, isSilent) {
  const isStale = streamState !== "open" || isSilent || !feed.isConnected || !feed.isSubscribed;
  if (!feed.lastValueAt) return { isStale, text: "no value yet" };
  const seconds = (Date.now() - feed.lastValueAt) / 1000;
  const since = feed.hasUpdate ? `last update ${seconds < 1 ? "just now" : `${duration(seconds)} ago`}`
    : seconds < 1 ? "no update yet" : `no update for ${duration(seconds)}`;
  return { isStale, text: isStale ? `values are old: ${since}` : since };
}
