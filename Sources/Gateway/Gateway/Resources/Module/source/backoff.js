// How long the hub waits before it asks the gateway again.

export const longest = 30_000; // ms, the longest delay of the back-off
const unavailable = 20_000; // ms, the shortest delay after 503: a gateway that can open no stream is asked three times a minute at most

/** Delays that double with each attempt, with jitter, and never shorter than the gateway demands. */
export class Backoff {
  attempts = 0;
  isHealthy = false;
  /** The `retry:` of the gateway, in milliseconds; it holds until the gateway sends another one. */
  retry = 0;

  /** Gives numbers from 0 to 1. */
  random = Math.random;

  /** The stream works: after its first update, or ten seconds. */
  healthy() {
    this.isHealthy = true;
    this.attempts = 0;
  }

  /** The milliseconds until the next attempt; `status` and `after` (seconds) are those of the failure. */
  delay({ status = 0, after = 0 } = {}) {
    this.attempts += 1;
    const { random } = this, least = status === 503 && !this.isHealthy ? unavailable * (1 + random() / 2) : 0;
    this.isHealthy = false;
    return Math.max(Math.min(longest, 250 * 2 ** this.attempts) * (0.5 + random() / 2), least, after * 1000 * (1 + random() / 4), this.retry);
  }
}
