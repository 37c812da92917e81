// Sends messages to the chat adapter through the session that carries the subscription.

import { post } from "/assets/api.js";
import { explain } from "/assets/codes.js";
import { h, setText } from "/assets/dom.js";

const patience = 5;

export class ChatForm {
  #feed;
  #input = h("input", {
    name: "text", required: true, maxlength: "500", placeholder: "Write a message", "aria-label": "Message",
    autocomplete: "off", enterkeyhint: "send",
  });
  #button = h("button", { type: "submit", class: "primary" }, "Send");
  #outcome = h("p", { class: "note outcome", role: "status" });

  constructor(feed) {
    this.#feed = feed;
    this.element = h("form", { class: "chat", onsubmit: (event) => this.#submit(event) },
      h("div", { class: "row" }, this.#input, this.#button), this.#outcome);
  }

  show(streamState, isPermitted) {
    this.element.hidden = !isPermitted;
    this.#button.disabled = streamState !== "open" || !this.#feed.client;
  }

  async #submit(event) {
    event.preventDefault();
    const text = this.#input.value.trim();
    if (!text) return;
    this.#button.disabled = true;
    try {
      const outcome = await post(
        `/v1/clients/${this.#feed.client}/messages`, { text: `CHAT|${text}`, sequence: "chat" },
        { headers: { Prefer: `wait=${patience}` } },
      );
      this.#show(outcome);
      if (!outcome.outcome || outcome.outcome === "processed") this.#input.value = "";
    } catch (error) {
      this.#say(`✗ ${error.message}`, true);
    }
    this.#button.disabled = false;
    this.#input.focus();
  }

  #show({ outcome, code, error }) {
    if (!outcome) return this.#say("Accepted; the server has not confirmed it yet.");
    if (outcome === "processed") return this.#say("✓ Sent and processed.");
    const meaning = explain("message", code)?.meaning ?? "";
    this.#say(`✗ The message was ${outcome}. ${meaning} ${error ?? ""}`.trim(), true);
  }

  #say(text, isProblem = false) {
    setText(this.#outcome, text);
    this.#outcome.classList.toggle("bad", isProblem);
  }
}
