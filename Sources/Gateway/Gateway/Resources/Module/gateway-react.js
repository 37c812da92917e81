// Hooks for React 18 and later, over gateway.js. React is an argument, so that this module imports nothing:
//
//   import * as React from "react";
//   export const { useSubscription, useValue } = hooks(React);

/** Makes the hooks. A component that shows what another one shows shares its subscription. */
export function hooks({ useMemo, useSyncExternalStore }) {
  /** The state, table and rows of a subscription: `{ state, table, rows }`; null subscribes to nothing. */
  function useSubscription(gateway, spec) {
    const key = JSON.stringify(spec);
    const store = useMemo(() => (spec ? copied(gateway.store(spec)) : nothing), [gateway, key]);
    return useSyncExternalStore(store.subscribe, store.get, store.get);
  }

  /** One field of one item, of its newest event in DISTINCT and RAW mode; undefined before it is known. */
  function useValue(gateway, { item, field, ...source }) {
    const key = JSON.stringify([source, item, field]);
    const store = useMemo(() => {
      const store = gateway.store({ mode: "MERGE", ...source, items: [item], fields: [field] });
      const value = () => {
        const { rows } = store.get();
        return (Array.isArray(rows) ? rows.at(-1)?.fields : rows.get(item))?.[field];
      };
      return { ...store, value };
    }, [gateway, key]);
    return useSyncExternalStore(store.subscribe, store.value, store.value);
  }

  return { useSubscription, useValue };
}

/** A store whose rows are another object after each change: compiled and memoized components compare them. */
function copied({ get, subscribe }) {
  let present, copy;
  return {
    subscribe,
    get: () => {
      const value = get();
      if (value !== present) copy = { ...value, rows: Array.isArray(value.rows) ? [...value.rows] : new Map(value.rows) };
      present = value;
      return copy;
    },
  };
}

const empty = { state: { state: "closed" }, table: null, rows: new Map() };
const nothing = { get: () => empty, subscribe: () => () => {} };
