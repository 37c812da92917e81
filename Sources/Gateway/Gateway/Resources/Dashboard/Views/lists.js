// Tables whose rows follow a list that is read again and again.

import { count, h, setText } from "/assets/dom.js";
import { rowLink } from "/assets/layout.js";

/**
 * Adds, updates and removes the children of an element to match a list, by key; elements that stay are not made again.
 */
export function keep(parent, entries, key, make, show) {
  parent.views ??= new Map();
  const present = new Set();
  for (const entry of entries) {
    const id = key(entry);
    present.add(id);
    if (!parent.views.has(id)) {
      const view = make(entry);
      parent.views.set(id, view);
      parent.append(...view.elements);
    }
    show(parent.views.get(id), entry);
  }
  for (const [id, view] of parent.views) {
    if (present.has(id)) continue;
    for (const element of view.elements) element.remove();
    parent.views.delete(id);
  }
}

const table = (caption, columns, body) => h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
  h("table", {}, h("caption", { class: "visually-hidden" }, caption),
    h("thead", {}, h("tr", {}, columns.map(([name, kind]) => h("th", { scope: "col", class: kind },
      kind === "actions" ? h("span", { class: "visually-hidden" }, name) : name)))), body));

/** A card with a table; its columns are `[name, class]`. */
export const tableCard = (title, caption, columns, body) =>
  h("div", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, title)), table(caption, columns, body));

/** A button that ends something, and tells `page` about it. */
export function endButton(label, page, end) {
  const button = h("button", { type: "button", class: "small danger", "aria-label": label }, "End");
  button.addEventListener("click", async () => {
    const region = button.closest("[role=region]");
    button.disabled = true;
    try {
      await end();
      page.note("page", `${label.replace(/^End /, "").replace(/^./, (letter) => letter.toUpperCase())} was ended from this page.`);
      await page.read();
      // The row is gone, and with it the focus.
      if (document.activeElement === document.body) region.focus({ preventScroll: true });
    } catch (error) {
      button.disabled = false;
      page.fail(error);
    }
  });
  return button;
}

/** Shows links to rows: the first few of a list, and the number of the others. */
export function showLinks(cell, ids, most = 3) {
  const text = ids.join(" ");
  if (cell.dataset.links === text) return;
  cell.dataset.links = text;
  const links = ids.slice(0, most).flatMap((id) => [h("a", { href: rowLink(id), class: "row-link" }, id), " "]);
  cell.replaceChildren(...links, ids.length > most ? `and ${ids.length - most} more` : ids.length ? "" : "–");
}

/** The sentences about lists, by their names, that are not shown to their end. */
export const cutText = (lists) => Object.entries(lists).filter(([, entries]) => entries.isCut)
  .map(([name, entries]) => `Only the first ${count(entries.length)} ${name} are shown.`).join(" ");

/** The row of an id: the target of `rowLink`. */
export const rowId = (id) => `row-${id}`;

/** Sets a text, or the sign for nothing. */
export const setOptional = (element, text) => setText(element, text ?? "–");
