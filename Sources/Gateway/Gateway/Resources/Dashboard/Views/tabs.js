// Tabs by the ARIA pattern: one of them is in the tab order, the arrow keys move among them.

import { h, isOfBrowser } from "/assets/dom.js";

/** Dispatches `select` (detail `{key, isByUser}`). */
export class Tabs extends EventTarget {
  #list;
  #tabs = new Map();
  selected = null;

  constructor(list) {
    super();
    this.#list = list;
    list.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The keys, in the order of the tabs. */
  get keys() { return [...this.#list.children].map((button) => button.id.slice("tab-".length)); }

  has(key) { return this.#tabs.has(key); }

  /** Adds a tab for a panel, before another tab or at the end. */
  add(key, title, panel, before = null) {
    const mark = h("span", { class: "tab-mark", "aria-hidden": "true" });
    const button = h("button", {
      type: "button", role: "tab", id: `tab-${key}`, "aria-controls": panel.id, "aria-selected": "false", tabIndex: -1,
      onclick: () => this.select(key, true),
    }, title, mark);
    const next = before && this.#tabs.get(before)?.button;
    this.#list.insertBefore(button, next ?? null);
    this.#tabs.set(key, { button, panel, mark });
  }

  /** Removes a tab; if it was selected, selects the tab before it. */
  remove(key) {
    const index = this.keys.indexOf(key);
    this.#tabs.get(key).button.remove();
    this.#tabs.delete(key);
    if (this.selected === key) this.select(this.keys[Math.max(0, index - 1)], true);
  }

  /** Selects a tab; `isByUser` tells listeners whether the URL follows. */
  select(key, isByUser = false) {
    this.selected = key;
    for (const [other, { button, panel }] of this.#tabs) {
      const isSelected = other === key;
      button.setAttribute("aria-selected", String(isSelected));
      button.tabIndex = isSelected ? 0 : -1;
      panel.hidden = !isSelected;
    }
    // Only the list scrolls, not the page.
    const { button } = this.#tabs.get(key);
    this.#list.scrollLeft = button.offsetLeft - this.#list.offsetLeft - 24;
    // What had the focus is gone, or in a panel that is hidden now.
    const { activeElement, body } = document;
    if (isByUser && (activeElement === body || !activeElement.checkVisibility())) button.focus({ preventScroll: true });
    this.dispatchEvent(new CustomEvent("select", { detail: { key, isByUser } }));
  }

  /** Shows a symbol beside a title; an empty one removes it. */
  mark(key, symbol) {
    const { mark } = this.#tabs.get(key);
    if (mark.textContent !== symbol) mark.textContent = symbol;
  }

  #key(event) {
    const buttons = [...this.#list.querySelectorAll('[role="tab"]')];
    const index = buttons.indexOf(document.activeElement);
    const targets = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: buttons.length - 1 };
    if (index < 0 || !(event.key in targets) || isOfBrowser(event)) return;
    event.preventDefault();
    const button = buttons[(targets[event.key] + buttons.length) % buttons.length];
    button.click();
    button.focus();
  }
}
