// Types of gateway.js. `Feeds` may be extended with the rows of the gateway's feeds.

/** The modes of a subscription. */
export type Mode = "MERGE" | "DISTINCT" | "COMMAND" | "RAW";

/** The fields of a row or of an update; null is a value that the server sent. */
export type Fields = Record<string, string | null | undefined>;

/** The rows of feeds by the feeds' names; empty unless an application or /assets/feeds.d.ts adds some. */
export interface Feeds {}

/** A subscription: a source of `PATCH /v1/streams/{id}`. Lists may be written as texts with commas, also with space around the names. */
export interface SubscriptionSpec {
  /** Needed where the gateway has several upstreams without a default. */
  upstream?: string;
  /** MERGE if it is missing. */
  mode?: Mode;
  items?: readonly string[] | string;
  itemGroup?: string;
  fields?: readonly string[] | string;
  fieldSchema?: string;
  dataAdapter?: string | null;
  selector?: string | null;
  requestedSnapshot?: "yes" | "no" | number | `${number}` | null;
  requestedMaxFrequency?: "unlimited" | "unfiltered" | number | `${number}` | null;
  requestedBufferSize?: "unlimited" | number | `${number}` | null;
  commandSecondLevelFields?: readonly string[] | string;
  commandSecondLevelFieldSchema?: string;
  commandSecondLevelDataAdapter?: string | null;
}

/**
 * A feed, of a gateway that has feeds; others refuse it. The gateway tells the mode of the feed, which chooses the table; `mode` only
 * narrows the types.
 */
export interface FeedSpec {
  feed: keyof Feeds | (string & {});
  mode?: Mode;
  [member: string]: unknown;
}

export type Spec = SubscriptionSpec | FeedSpec;

/** The rows that a subscription has: those of the feed, or texts. */
export type RowOf<S> = S extends { feed: infer Name } ? (Name extends keyof Feeds ? Feeds[Name] : Fields) : Fields;

/** The data of the event `update`. */
export interface Update<Row = Fields> {
  subscription: string;
  client?: string | null;
  /** Null with an item group: `itemPos` tells the item. */
  item: string | null;
  itemPos: number;
  snapshot: boolean;
  /** The fields that changed. */
  fields: Partial<Row>;
  /** All fields, where the gateway or a snapshot of a `List` tells them. */
  values?: Row;
  /** COMMAND only. */
  key?: string | null;
  /** COMMAND only. */
  command?: "ADD" | "UPDATE" | "DELETE" | null;
  /** JSON Patches by field. */
  patches?: Record<string, object[]>;
  /** Of a feed only: the fields whose values are not of their types, and are therefore strings. */
  invalid?: string[];
  /** How many updates this one stands for. */
  conflated?: number;
  /** Of an iterator only: updates before this one were dropped, because the reader was too slow. */
  lost?: true;
}

/** RFC 9457, with the cause and cure that the gateway's documentation gives. */
export interface Problem {
  title?: string;
  detail?: string;
  status?: number;
  code?: string | number;
  message?: string | null;
  type?: string;
  instance?: string;
  errors?: { pointer?: string; parameter?: string; code: string; detail: string }[];
  meaning?: string;
  cause?: string;
  cure?: string;
}

/** What is true of a subscription or of the connection. Times are milliseconds since 1970. */
export type State =
  /** Of a connection: there is no subscription that could have a stream. */
  | { state: "idle" }
  /** Nothing has arrived yet. */
  | { state: "connecting" }
  /** Nothing has arrived for two seconds. */
  | { state: "waiting"; reason: string }
  /** Of a connection with how the stream began, and its number of sources. */
  | { state: "open"; resume?: "fresh" | "resumed" | "gap"; sources?: number }
  /** The rows may be old; `since`: the last update, null if none has followed the snapshot. */
  | { state: "stale"; reason: string; since: number | null }
  /** The stream was lost; the next attempt is at `nextAt`. */
  | { state: "reconnecting"; attempt: number; nextAt: number; reason: string; problem?: Problem }
  /**
   * Final: another attempt would have the same outcome. `retry()` makes one all the same. Only a quota (`over-quota`) is asked for
   * again by itself, after half a minute to a minute.
   */
  | { state: "refused"; reason?: string; problem: Problem }
  | { state: "closed" };

/** The names of the events of a stream. */
export type EventName =
  | "stream" | "status" | "server-error" | "property" | "subscribed" | "unsubscribed" | "update" | "end-of-snapshot"
  | "clear-snapshot" | "lost-updates" | "subscription-error" | "second-level-error" | "second-level-lost-updates"
  | "real-max-frequency" | "message-outcome" | "closing";

/** MERGE: the fields of each item. A row is replaced by each update, never changed. */
export class MergeTable<Row = Fields> {
  readonly rows: ReadonlyMap<string, Row>;
  apply(name: string, data: any): void;
  snapshot(): IterableIterator<Omit<Update<Row>, "subscription">>;
}

/** COMMAND, in one or two levels: the rows of each item by key. */
export class CommandTable<Row = Fields> {
  readonly items: ReadonlyMap<string, ReadonlyMap<string, Row>>;
  /** The rows of the first item. */
  readonly rows: ReadonlyMap<string, Row>;
  apply(name: string, data: any): void;
  snapshot(): IterableIterator<Omit<Update<Row>, "subscription">>;
}

/** DISTINCT and RAW: the newest events, oldest first. */
export class List<Row = Fields> {
  constructor(bound?: number);
  readonly bound: number;
  readonly rows: readonly { item: string | null; itemPos: number; snapshot: boolean; fields: Row }[];
  apply(name: string, data: any): void;
  snapshot(): IterableIterator<Omit<Update<Row>, "subscription">>;
}

/** The table of a mode. */
export type TableOf<S, Row = RowOf<S>> = S extends { mode: "COMMAND" } ? CommandTable<Row>
  : S extends { mode: "DISTINCT" | "RAW" } ? List<Row>
  : S extends { mode: "MERGE" } ? MergeTable<Row>
  : S extends { feed: unknown } ? MergeTable<Row> | CommandTable<Row> | List<Row>
  : Pick<S, keyof S & "mode"> extends { mode?: undefined } ? MergeTable<Row>
  : MergeTable<Row> | CommandTable<Row> | List<Row>;

/** What may take the place of a subscription: any other source of the same feed and mode, for the types stay. */
export type SimilarTo<S> = (S extends { feed: unknown } ? FeedSpec : Omit<SubscriptionSpec, "mode">)
  & Pick<S, keyof S & ("feed" | "mode")>;

/** Makes an empty table. */
export function tableOf(mode: Mode | undefined, bound?: number): MergeTable | CommandTable | List;

export interface Callbacks<S extends Spec = Spec> {
  /** Each update; those of a snapshot too. */
  update?(update: Update<RowOf<S>>): void;
  /** The rows so far are void; those that follow are the present ones. */
  reset?(): void;
  /** The rows were replaced as a whole. */
  snapshot?(table: TableOf<S>): void;
  /** The table may have changed: once for the events that arrived together. */
  change?(table: TableOf<S>): void;
  state?(state: State): void;
  /** What the stream tells about the source: see `Handle.info`. */
  info?(info: Record<string, any>): void;
  /** Every other event of the subscription and of the client that carries it. */
  event?(name: EventName, data: any): void;
  /** The rows of a `List`, 200 by default, and the updates that wait for an iterator, 10,000 by default. */
  bound?: number;
}

/** A subscription. It is an endless sequence of updates, which starts with the present rows. */
export interface Handle<S extends Spec = Spec> extends AsyncIterable<Update<RowOf<S>>> {
  readonly state: State;
  readonly table: TableOf<S>;
  readonly rows: TableOf<S>["rows"];
  readonly spec: S;
  /** What the stream tells about the source: its id, the client, item and field counts, the real frequency. */
  readonly info: Record<string, any>;
  readonly isClosed: boolean;
  /** Subscribes to something else instead; the rows so far are void. */
  change(spec: S | SimilarTo<S>): void;
  close(): void;
}

/** The present value, and each new one: the contract of Svelte's stores. */
export interface Store<Value> {
  get(): Value;
  subscribe(run: (value: Value) => void): () => void;
}

export interface StoreValue<S extends Spec = Spec> {
  state: State;
  table: TableOf<S>;
  rows: TableOf<S>["rows"];
}

export interface Options {
  /** Gives the key or token; called again, with true, after a 401. */
  token?(isRenewed: boolean): string | null | undefined | Promise<string | null | undefined>;
  /** "include" sends the gateway's cookie from a page of another origin. */
  credentials?: RequestCredentials;
  /** Deliveries a second while the page is hidden. */
  hidden?: { maxFrequency: number };
  /** "tabs": no SharedWorker. "page": a stream of this page alone. */
  share?: "tabs" | "page";
}

export interface Gateway {
  readonly url: string;
  readonly state: State;
  /** The id of the stream; null before the first one. */
  readonly stream: string | null;
  subscribe<S extends Spec>(spec: S, callbacks?: Callbacks<S>): Handle<S>;
  /** Subscribes while it has a reader. */
  store<S extends Spec>(spec: S, callbacks?: Pick<Callbacks<S>, "update" | "event" | "bound">): Store<StoreValue<S>>;
  /** Calls `run` with the state of the connection, now and at each change; returns the end of that. */
  watch(run: (state: State) => void): () => void;
  /** A request with the token: the parsed response. Throws `GatewayError`. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any>;
  /** Tries again at once, also what was refused; an open stream is opened again, with the present token or cookie. */
  retry(): void;
  close(): void;
}

/** The gateway refused a request, or did not answer (status 0), as it seems to a page whose origin `cors.origins` lacks. */
export class GatewayError extends Error {
  readonly status: number;
  readonly problem: Problem;
  /** Seconds to wait before another attempt. */
  readonly after: number;
  readonly isFinal: boolean;
}

/** Connects a page to a gateway; without an address, to the page's own origin. */
export function connect(url?: string | URL, options?: Options): Gateway;
