// Types of gateway-react.js.

import type { Fields, Gateway, Spec, StoreValue } from "./gateway.js";

export interface ReactLike {
  useMemo<Value>(make: () => Value, dependencies: readonly unknown[]): Value;
  useSyncExternalStore<Value>(subscribe: (changed: () => void) => () => void, get: () => Value, getOnServer?: () => Value): Value;
}

export interface Hooks {
  /** The state, table and rows of a subscription; null subscribes to nothing. */
  useSubscription<S extends Spec>(gateway: Gateway, spec: S): StoreValue<S>;
  useSubscription(gateway: Gateway, spec: null): { state: { state: "closed" }; table: null; rows: ReadonlyMap<string, Fields> };
  /** One field of one item of a MERGE subscription; undefined before it is known. */
  useValue(
    gateway: Gateway, source: { upstream: string; item: string; field: string; dataAdapter?: string },
  ): string | null | undefined;
}

/** Makes the hooks for a version of React. */
export function hooks(react: ReactLike): Hooks;
