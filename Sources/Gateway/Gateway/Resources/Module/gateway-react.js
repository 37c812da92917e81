// Hooks for React 18 and later, over gateway.js. React is an argument, so that this module imports nothing:
//
//   import * as React from "react";
//   export const { useSubscription, useValue } = hooks(React);

/** Makes the hooks. A component that shows what another one shows shares its subscription. */
export function hooks({ useMemo, useSyncExternalStore }) {
  /** The state, table and rows of a subscription: `{ state, table, rows }`; null subscribes to nothing. */
  function useSubscription(gateway, spec) {
    const key = JSON.stringify(spec);
    const store = useMemo(() => (spec ? gateway.store(spec) : nothing), [gateway, key]);
    return useSyncExternalStore(store.subscribe, store.get, store.get);
  }

  /** One field of one item of a MERGE subscription; undefined before it is known. */
  function useValue(gateway, { item, field, ...source }) {
    const key = JSON.stringify([source, item, field]);
    const store = useMemo(() => {
      const rows = gateway.store({ mode: "MERGE", ...source, items: [item], fields: [field] });
      return { ...rows, value: () => rows.get().rows.get(item)?.[field] };
    }, [gateway, key]);
    return useSyncExternalStore(store.subscribe, store.value, store.value);
  }

  return { useSubscription, useValue };
}

const empty = { state: { state: "closed" }, table: null, rows: new Map() };
const nothing = { get: () => empty, subscribe: () => () => {} };
