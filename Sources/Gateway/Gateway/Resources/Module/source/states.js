// The states of the connection and of subscriptions.

export const patience = 2000; // ms until "connecting" becomes "waiting"

export const isLive = (status) => /^CONNECTED/.test(status);

const sentences = {
  STALLED: "The upstream is silent.",
  "DISCONNECTED:WILL-RETRY": "The upstream connection was lost; the gateway connects again.",
  "DISCONNECTED:TRYING-RECOVERY": "The upstream connection was lost; the gateway recovers it.",
  DISCONNECTED: "The upstream session ended.",
};

/** The state of a subscription, or without one of the connection `conn`; `since`: when the wait began. */
export function derived(conn, sub, since, url) {
  const refusal = sub?.info.problem ?? (conn.state === "refused" && conn.problem);
  if (refusal) return { state: "refused", reason: refusal.detail ?? refusal.meaning ?? refusal.title, problem: refusal };
  if (conn.state === "reconnecting" || (!sub && conn.state === "idle")) return conn;
  const isOpen = conn.state === "open", stale = (reason) => ({ state: "stale", reason, since: sub?.updatedAt ?? null });
  if (isOpen) {
    if (conn.isSilent) return stale("The gateway is silent.");
    if (!sub) return { state: "open", resume: conn.resume, sources: conn.sources };
    if (sub.info.subscribed && isLive(sub.info.status)) return { state: "open" };
  }
  const reason = !isOpen ? `The gateway at ${url} has not answered yet.`
    : sub.info.source ? sub.info.lastFailure?.detail ?? sentences[sub.info.status] ?? "The upstream has not answered yet." : "The subscription is being added.";
  if (sub?.updatedAt !== undefined && isOpen) return stale(reason);
  return Date.now() - since >= patience ? { state: "waiting", reason } : { state: "connecting" };
}
