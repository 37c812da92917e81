// Requests to the gateway's own API. The key is held in this module's memory and nowhere else.

let key = null;

/**
 * Dispatches `needed` when a request was refused because credentials are missing or invalid, and `changed` when the key
 * changed.
 */
export const access = new EventTarget();

export const hasKey = () => key !== null;
export const keyText = () => key;

/** Sets the key or token for all requests that follow; null forgets it. */
export function setKey(text) {
  key = text || null;
  access.dispatchEvent(new Event("changed"));
}

/** The gateway answered with a problem (RFC 9457). */
export class ProblemError extends Error {
  constructor(status, problem) {
    super(sentence(status, problem));
    this.status = status;
    this.problem = problem ?? {};
    this.code = this.problem.code ?? String(status);
  }
}

/** The gateway did not answer. */
export class UnreachableError extends Error {
  constructor() {
    super("The gateway does not answer.");
  }
}

/**
 * The member or parameter that an entry of `errors` refers to, without its index in the lists of a stream's sources.
 */
const place = ({ pointer, parameter }) =>
  parameter ?? pointer?.replace(/^\/(add|sources)\/\d+(?=\/)/, "").replace(/\/\d+$/, "").slice(1);

function sentence(status, problem) {
  if (!problem) return `The gateway answered with status ${status}.`;
  const refusals = (problem.errors ?? []).map((error) => (place(error) ? `${place(error)}: ${error.detail}` : error.detail));
  const parts = refusals.length ? [...new Set(refusals)] : [problem.detail ?? problem.title ?? `Status ${status}.`];
  if (problem.upstream) parts.push(`The server reports ${problem.upstream.code}: ${problem.upstream.message}`);
  return parts.map((part) => part.replace(/([^.!?])$/, "$1.")).join(" ");
}

async function send(method, path, { body, headers = {}, keepalive = false, patience = 10_000 } = {}) {
  const all = { ...headers };
  if (key) all.Authorization = `Bearer ${key}`;
  if (body !== undefined) all["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method, headers: all, keepalive, cache: "no-store", credentials: "same-origin",
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(patience),
    });
  } catch {
    throw new UnreachableError();
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => null);
  if (response.status === 401) access.dispatchEvent(new CustomEvent("needed", { detail: { wasKey: hasKey() } }));
  throw new ProblemError(response.status, problem);
}

async function json(method, path, options) {
  const response = await send(method, path, options);
  return response.status === 204 ? null : response.json().catch(() => null);
}

export const get = (path, options) => json("GET", path, options);
export const post = (path, body, options) => json("POST", path, { body, ...options });
export const patch = (path, body, options) => json("PATCH", path, { body, ...options });
export const remove = (path, options) => json("DELETE", path, options);

/** A response as text: the metrics. */
export const text = async (path, options) => (await send("GET", path, options)).text();

/** The entries of a list, page by page; `isCut` tells that there are more than `most`. */
export async function list(path, member, most = 500) {
  const entries = [];
  let cursor = null;
  do {
    const query = new URLSearchParams({ limit: "100", ...(cursor ? { cursor } : {}) });
    const page = await get(`${path}?${query}`);
    entries.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor && entries.length < most);
  return Object.assign(entries, { isCut: !!cursor });
}
