// Channels between the tabs of a scope, or within one page.

export const random = () => Math.random().toString(36).slice(2, 10);

const buses = new Map();

/** A BroadcastChannel within this page. */
class LocalChannel {
  constructor(name) {
    this.name = name;
    if (!buses.has(name)) buses.set(name, new Set());
    buses.get(name).add(this);
  }

  postMessage(data) {
    queueMicrotask(() => { for (const other of [...buses.get(this.name) ?? []]) if (other !== this) other.onmessage?.({ data }); });
  }

  close() {
    buses.get(this.name)?.delete(this);
    if (buses.get(this.name)?.size === 0) buses.delete(this.name);
  }
}

export const slice = 5; // ms of work after which other tasks have their turn

/** Resolves in another task. A timer would wait for a second in a hidden page. */
export const turn = () => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => resolve(port1.close());
  port2.postMessage(0);
});

export const channel = (scope, name = "") => scope.startsWith("page:") ? new LocalChannel(scope + name) : new BroadcastChannel(scope + name);
export const locks = () => globalThis.navigator?.locks;
