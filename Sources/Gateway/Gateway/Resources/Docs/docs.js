// The API page: tabs of languages, calls that run in the page, search, the current section in the sidebar. Without scripts, all
// languages are shown.

import { copyText, decoded, followHead } from "/assets/dom.js";

const languages = ["curl", "JavaScript", "Python", "Swift"];
const mostShown = 20_000; // characters of a response
const storageKey = "docs-language";

function setOrigin() {
  for (const code of document.querySelectorAll("pre code")) {
    if (code.textContent.includes("http://127.0.0.1:8080")) {
      code.textContent = code.textContent.replaceAll("http://127.0.0.1:8080", location.origin);
    }
  }
}

function button(label, onclick) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "chip";
  element.textContent = label;
  element.addEventListener("click", onclick);
  return element;
}

function show(language) {
  for (const sample of document.querySelectorAll(".samples .sample")) sample.hidden = sample.dataset.language !== language;
  for (const tab of document.querySelectorAll(".samples .tabs .language")) {
    tab.setAttribute("aria-pressed", String(tab.textContent === language));
  }
  try { localStorage.setItem(storageKey, language); } catch { /* The choice lasts as long as the page. */ }
}

function addTabs() {
  for (const samples of document.querySelectorAll(".samples")) {
    const tabs = document.createElement("div");
    tabs.className = "tabs";
    for (const language of languages) {
      const tab = button(language, () => {
        const before = tab.getBoundingClientRect().top;
        show(language);
        // All tabs of the page change; the page scrolls so that the pressed tab keeps its position.
        scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
      });
      tab.classList.add("language");
      tabs.append(tab);
    }
    const copy = button("Copy", () => copyText(samples.querySelector(".sample:not([hidden]) code").textContent, copy));
    copy.classList.add("copy");
    tabs.append(copy);
    samples.prepend(tabs);
  }
  let chosen = null;
  try { chosen = localStorage.getItem(storageKey); } catch { /* None was chosen. */ }
  show(languages.includes(chosen) ? chosen : languages[0]);
}

/** Runs the call of an element, and shows what it returns beside the text, a stream as long as it runs. */
class Run {
  static #present = null;

  #path;
  #button;
  #live;
  #abort = null;
  #isStream = false;

  constructor(element, place) {
    this.#path = element.dataset.run;
    this.#button = button("", () => this.#abort ? this.#stop() : this.#start());
    this.#button.classList.add("run");
    this.#label("Run");
    this.#live = document.createElement("pre");
    Object.assign(this.#live, { className: "live", tabIndex: 0, hidden: true });
    this.#live.setAttribute("role", "region");
    this.#live.setAttribute("aria-label", `Response of GET ${this.#path}`);
    place.append(this.#button);
    element.append(this.#live);
    element.classList.add("runnable");
  }

  #stop() {
    this.#abort?.abort();
    this.#abort = null;
    Run.#present = null;
    this.#label("Run");
  }

  /** The name of the button begins with its text, by which voice control finds it. */
  #label(word) {
    this.#button.textContent = word;
    this.#button.setAttribute("aria-label", `${word} GET ${this.#path}`);
  }

  async #start() {
    Run.#present?.#stop();
    Run.#present = this;
    const { signal } = this.#abort = new AbortController();
    this.#label("Stop");
    this.#live.hidden = false;
    this.#live.textContent = "";
    try {
      const response = await fetch(this.#path, { signal }), type = response.headers.get("Content-Type") ?? "";
      this.#isStream = /event-stream|ndjson/.test(type);
      this.#show(`${response.status} ${type}\n\n`);
      if (type.includes("json") && !this.#isStream) {
        this.#show(JSON.stringify(await response.json(), null, 2));
      } else {
        const decoder = new TextDecoder();
        const reader = response.body.getReader();
        for (let part = await reader.read(); !part.done; part = await reader.read()) this.#show(decoder.decode(part.value, { stream: true }));
      }
    } catch (error) {
      if (!signal.aborted) this.#show(`The gateway does not answer: ${error.message}`);
    }
    if (!signal.aborted) this.#stop();
  }

  /** Of a stream the newest lines, of another response the first ones. */
  #show(text) {
    const isAtEnd = this.#isStream && this.#live.scrollTop + this.#live.clientHeight >= this.#live.scrollHeight - 8;
    const whole = this.#live.textContent + text, isLong = whole.length > mostShown;
    if (isLong && !this.#isStream) this.#live.textContent = `${whole.slice(0, mostShown)}…`;
    else this.#live.textContent = isLong ? whole.slice(whole.indexOf("\n", whole.length - mostShown) + 1) : whole;
    if (isAtEnd) this.#live.scrollTop = this.#live.scrollHeight;
  }
}

function addRuns() {
  for (const element of document.querySelectorAll("[data-run]")) {
    let place = element.querySelector(".tabs");
    if (!place) {
      place = document.createElement("div");
      place.className = "tabs";
      element.prepend(place);
    }
    new Run(element, place);
  }
}

function connectSearch() {
  const input = document.getElementById("search");
  const found = document.getElementById("found");
  const blocks = [...document.querySelectorAll("main section, main tr[id], main .schema")]
    .map((element) => ({ element, text: element.textContent.toLowerCase() }));
  const entries = [...document.querySelectorAll("#sidebar li")];

  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { element, text } of blocks) {
      element.hidden = !words.every((word) => text.includes(word));
      if (!element.hidden && element.classList.contains("operation")) count += 1;
    }
    for (const heading of document.querySelectorAll("main > h2")) heading.hidden = words.length > 0;
    for (const entry of entries) {
      const target = document.getElementById(entry.querySelector("a").hash.slice(1));
      entry.hidden = target?.hidden ?? false;
    }
    for (const list of document.querySelectorAll("#sidebar ul")) {
      list.hidden = [...list.children].every((entry) => entry.hidden);
      list.previousElementSibling.hidden = list.hidden;
    }
    if (words.length) scrollTo({ top: 0, behavior: "instant" });
    found.textContent = words.length ? `${count} operation${count === 1 ? "" : "s"} found` : "";
  });
}

function openSidebar(isOpen) {
  document.getElementById("sidebar").classList.toggle("open", isOpen);
  document.getElementById("menu").setAttribute("aria-expanded", String(isOpen));
}

function connectMenu() {
  const sidebar = document.getElementById("sidebar");
  document.getElementById("menu").addEventListener("click", () => openSidebar(!sidebar.classList.contains("open")));
  sidebar.addEventListener("click", (event) => { if (event.target.closest("a")) openSidebar(false); });
  // On small screens the contents would cover what has the focus.
  document.querySelector("main").addEventListener("focusin", ({ target }) => {
    if (!sidebar.classList.contains("open")) return;
    openSidebar(false);
    target.scrollIntoView({ block: "nearest" });
  });
}

function followPlace() {
  const links = new Map([...document.querySelectorAll("#sidebar a")].map((link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      if (!isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  for (const id of links.keys()) {
    const section = document.getElementById(id);
    if (section) observer.observe(section);
  }
}

/** Makes elements that scroll horizontally reachable by the Tab key, so that the arrow keys scroll them. */
function letKeysScroll() {
  for (const element of document.querySelectorAll(".scroll, figure, .transcript pre")) {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  }
}

/** Shows the part that the address of the page refers to: one that is folded is opened, one that a search has hidden ends the search. */
function showTarget() {
  const target = location.hash && document.getElementById(decoded(location.hash));
  if (target && target.closest("[hidden]")) {
    const input = document.getElementById("search");
    input.value = "";
    input.dispatchEvent(new Event("input"));
  }
  if (target instanceof HTMLDetailsElement) target.open = true;
  target?.scrollIntoView?.();
}

setOrigin();
addTabs();
addRuns();
connectSearch();
connectMenu();
followPlace();
followHead();
// The height of the page depends on its width and on the size of its texts.
new ResizeObserver(letKeysScroll).observe(document.body);
addEventListener("hashchange", showTarget);
showTarget();
