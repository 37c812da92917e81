// Channels between the tabs of a scope, or within one page.

export const random = () => Math.random().toString(36).slice(2);

const open = new Set();

/** A BroadcastChannel within this page. */
class LocalChannel {
  constructor(name) {
    this.name = name;
    open.add(this);
  }

  postMessage(data) {
    queueMicrotask(() => { for (const other of open) if (other !== this && other.name === this.name) other.onmessage?.({ data }); });
  }

  close() { open.delete(this); }
}

export const slice = 5; // ms of work after which other tasks have their turn

/** Resolves in another task. A timer would wait for a second in a hidden page. */
export const turn = () => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => resolve(port1.close());
  port2.postMessage(0);
});

/** Resolves once a signal is aborted; never without one. */
export const ended = (signal) => new Promise((resolve) => { if (signal?.aborted) resolve(); else signal?.addEventListener("abort", resolve); });

export const channel = (scope, name = "") => scope.startsWith("page:") ? new LocalChannel(scope + name) : new BroadcastChannel(scope + name);
export const locks = globalThis.navigator?.locks;
