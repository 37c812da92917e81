// Types of gateway-react.js.

import type { FeedSpec, Feeds, Fields, Gateway, Spec, StoreValue, SubscriptionSpec } from "./gateway.js";

export interface ReactLike {
  useMemo<Value>(make: () => Value, dependencies: readonly unknown[]): Value;
  useSyncExternalStore<Value>(subscribe: (changed: () => void) => () => void, get: () => Value, getOnServer?: () => Value): Value;
}

/** What a component has without a subscription. */
export interface NoSubscription {
  state: { state: "closed" };
  table: null;
  rows: ReadonlyMap<string, Fields>;
}

/** One field of one item, of a feed or of an upstream. */
export type ValueSpec = (Omit<SubscriptionSpec, "items" | "fields"> | Pick<FeedSpec, "feed" | "mode">) & { item: string; field: string };

export interface Hooks {
  /** The state, table and rows of a subscription, the rows as another object after each change; null subscribes to nothing. */
  useSubscription<S extends Spec>(gateway: Gateway, spec: S): StoreValue<S>;
  useSubscription(gateway: Gateway, spec: null): NoSubscription;
  useSubscription<S extends Spec>(gateway: Gateway, spec: S | null): StoreValue<S> | NoSubscription;
  /** One field of one item, of its newest event in DISTINCT and RAW mode; undefined before it is known. */
  useValue<Name extends keyof Feeds, Field extends keyof Feeds[Name]>(
    gateway: Gateway, source: { feed: Name; item: string; field: Field },
  ): Feeds[Name][Field] | undefined;
  useValue(gateway: Gateway, source: ValueSpec): string | null | undefined;
}

/** Makes the hooks for a version of React. */
export function hooks(react: ReactLike): Hooks;
