// Small tools around the DOM. Text always enters as text nodes, so no value of an upstream is ever read as HTML.

const svgNamespace = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Makes an HTML element: `h("p", { class: "note" }, "text", child)`. */
export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);

/** Makes an SVG element. */
export const svg = (tag, properties, ...children) =>
  fill(document.createElementNS(svgNamespace, tag), properties, children);

export const byId = (id) => document.getElementById(id);

/** The text of the fragment of a URL (`location.hash`); a fragment that a user typed may have no valid escapes. */
export function decoded(hash) {
  const fragment = hash.slice(1);
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** Sets a text only if it differs, which avoids unnecessary layout. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Whether a key is one of the browser's own: Alt+← goes back, Ctrl+− zooms. */
export const isOfBrowser = ({ altKey, ctrlKey, metaKey }) => altKey || ctrlKey || metaKey;

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

// Numbers that change more often cannot be read.
const shortestPause = 100;
const pauseWhileHidden = 1000;

/** Returns a function that calls `draw` in the next frame, but no more often than ten times a second. */
export function sparingly(draw) {
  let requested = false;
  let drawnAt = -shortestPause;
  const run = () => { requested = false; drawnAt = performance.now(); draw(); };
  return () => {
    if (requested) return;
    requested = true;
    const pause = drawnAt + shortestPause - performance.now();
    // A hidden page has no frames; a timer keeps its values current at a low rate.
    if (document.hidden) setTimeout(run, pauseWhileHidden);
    else if (pause > 0) setTimeout(() => requestAnimationFrame(run), pause);
    else requestAnimationFrame(run);
  };
}

/**
 * Returns a function that is told whether a view is shown: while it is, and the page is not hidden, `read` is called at intervals of
 * some milliseconds, each counted from the end of the call before.
 */
export function whileShown(read, interval) {
  let timer = 0;
  let showing = null;
  return (isShown) => {
    clearTimeout(timer);
    const own = showing = isShown ? {} : null;
    const poll = async () => {
      if (!document.hidden) await read();
      // While the call lasted, the view may have been hidden, or shown again with a sequence of its own.
      if (showing === own) timer = setTimeout(poll, interval);
    };
    if (isShown) timer = setTimeout(poll, 0);
  };
}

const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** A duration for people: `12 s`, `3 min`, `2 h`. */
export function duration(seconds) {
  if (seconds < 1) return "now";
  const [size, unit] = units.find(([size]) => seconds >= size);
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** How long ago something changed; unless the time of the change is known, it is only known to be earlier. */
export function ageText(seconds, isKnown) {
  const text = duration(seconds);
  return isKnown ? text : text === "now" ? "–" : `over ${text}`;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** A count for people: `1,234`, `1.2M`. */
export const count = (value) => (value < 100_000 ? whole : compact).format(value);

export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** Whether a value is shown as a number. Times such as 13:48:40 are not. */
export const isNumeric = (value) => typeof value === "string" && /^[-+]?\d{1,15}(\.\d{1,12})?$/.test(value.trim());

/** The time of day of a moment. */
export const clock = (moment) => new Date(moment).toLocaleTimeString("en-GB");

/** What is scrolled into view is below the head, whose height depends on its texts, their size and the width of the page. */
export function followHead() {
  const { style } = document.documentElement, head = document.querySelector(".top");
  const measure = () => style.setProperty("--head", `${head.offsetHeight}px`);
  new ResizeObserver(measure).observe(head);
  // Before the page scrolls to the part that its address refers to.
  measure();
}

/** Copies a text, and shows the result on the button. */
export async function copyText(text, button) {
  // Another press finds the result of the one before.
  const label = button.dataset.label ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select and copy";
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}
