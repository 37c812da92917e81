// Requests to the gateway: with the token, obeying the limits that responses tell.

/** Resolves after some milliseconds, or once `signal` is aborted. */
export const sleep = (ms, signal) => new Promise((resolve) => {
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    resolve();
  };
  const timer = setTimeout(end, ms);
  signal?.addEventListener("abort", end);
});

/** The gateway refused a request (`problem`: RFC 9457), or did not answer (status 0). */
export class GatewayError extends Error {
  constructor(status, problem, after = 0) {
    super(problem?.detail ?? problem?.title ?? (status ? `The gateway answered with ${status}.` : "The gateway does not answer."));
    this.status = status;
    this.problem = { status, title: this.message, ...problem };
    /** Seconds to wait before another attempt. */
    this.after = after;
  }

  /** Whether another attempt has the same outcome. */
  get isFinal() { return /4(?!0[89]|2[59])../.test(this.status); }
}

/** Without a token nothing can be sent, but a later attempt may get one. */
const noToken = (error) => { throw new GatewayError(0, { title: `No token: ${error?.message ?? error}` }); };

/** Not for pages: sends requests with the token, obeys the limits that responses tell, and asks for another token once after a 401. */
export class Requests {
  #free = 0;
  #token;
  /** Until the first response: another reason why a page of another origin may get none. */
  #hint;
  /** The last token. */
  former;

  constructor(url, credentials, token) {
    this.#hint = new URL(url).origin === globalThis.origin ? "" : `, or its cors.origins lacks ${globalThis.origin}`;
    this.url = url;
    this.credentials = credentials;
    this.ask = token;
  }

  /** Forgets the token: the next request asks for one. */
  renew() { this.#token = undefined; }

  async send(method, path, { body, headers, signal, keepalive } = {}) {
    for (let isRenewed = false; ; isRenewed = true) {
      const pause = this.#free - performance.now();
      if (pause > 0 && !keepalive) await sleep(pause, signal);
      if (this.#token === undefined) this.#token = this.former = (await this.ask(isRenewed).catch(noToken)) ?? null;
      const response = await fetch(this.url + path, {
        method, signal, keepalive, cache: "no-store", credentials: this.credentials, body: body && JSON.stringify(body),
        headers: { ...headers, ...this.#token && { Authorization: `Bearer ${this.#token}` }, ...body && { "Content-Type": "application/json" } },
      }).catch(() => { throw new GatewayError(0, { title: `The gateway does not answer${this.#hint}.` }); });
      this.#hint = "";
      const reset = response.headers.get("RateLimit")?.match(/r=0;t=(\d+)/)?.[1];
      if (reset) this.#free = performance.now() + reset * 1000;
      if (response.ok) return response;
      if (response.status === 401 && !isRenewed) {
        this.renew();
        continue;
      }
      const problem = await response.json().catch(() => null);
      throw new GatewayError(response.status, problem, +response.headers.get("Retry-After") || 0);
    }
  }

  async json(method, path, options) {
    const response = await this.send(method, path, options);
    return response.status === 204 ? null : response.json().catch(() => { throw new GatewayError(0); });
  }
}
