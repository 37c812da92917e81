// The meanings of the codes of problems and of upstream errors, as /docs lists them.

let codes = {};

export async function loadCodes() {
  codes = await fetch("/assets/codes.json").then((response) => response.json()).catch(() => ({}));
}

/** The entry `{meaning, cause, cure}` of a code; kind is problem, session, subscription or message. */
export function explain(kind, code) {
  const entries = codes[kind] ?? [];
  const found = entries.find((entry) => entry.code === String(code));
  if (found) return found;
  return Number(code) <= 0 ? entries.find((entry) => entry.code === "0") : undefined;
}

/** The link to the explanation of a code in /docs. */
export const docsLink = (kind, code) =>
  kind === "problem" ? `/docs#${code}` : `/docs#${kind}-${Number(code) <= 0 ? "0" : code}`;
