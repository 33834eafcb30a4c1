// Decides whether a server that crashed is started again: five crashes in a short time have a cause that a restart does not remove.

/** Crashes after which the server stays stopped. */
export const MOST_CRASHES = 5;

/** Milliseconds in which they count. */
const PERIOD = 3 * 60 * 1_000;

export class CrashPolicy {
  private crashes: number[] = [];

  /** Counts a crash at a time in milliseconds. Returns whether to start the server again. */
  mayRestart(now: number): boolean {
    this.crashes = this.crashes.filter((crash) => now - crash < PERIOD);
    this.crashes.push(now);
    return this.crashes.length < MOST_CRASHES;
  }
}
