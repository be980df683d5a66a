import { expect } from 'vitest';
import type { ApiAnswer } from '../setup/api-client.ts';

/** What was asked under load and what came of it: the promises are held to this. */
export class Ledger {
  /** What must never happen, in words. */
  readonly violations: string[] = [];
  /** Envelopes that were sent, and how often each was answered OK. */
  readonly envelopes: { readonly body: unknown; accepted: number }[] = [];
  /** Keys that an answer has shown. */
  readonly mintedKeys: string[] = [];
  /** API keys that an answer has shown. */
  readonly apiKeys: string[] = [];
  readonly counts = new Map<string, number>();
  /** The longest that a request took, in milliseconds, and which. */
  longest = { milliseconds: 0, what: 'nothing' };
  /** The longest that a request took which needs no other server: what the machine's own noise comes to. */
  longestControl = 0;

  /** What has been counted from now on. */
  since(): (what: string) => number {
    const before = new Map(this.counts);
    return (what) => this.counted(what) - (before.get(what) ?? 0);
  }

  /** How many writes were acknowledged. */
  get acknowledged(): number {
    return ['mint', 'ban', 'API key']
      .map((what) => this.counted(`${what}: done`))
      .reduce((sum, count) => sum + count, 0);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  counted(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  /** Sends, and notes how long it took. */
  async timed(what: string, send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const start = performance.now();
    const answer = await send();
    const milliseconds = performance.now() - start;
    if (milliseconds > this.longest.milliseconds) this.longest = { milliseconds, what };
    return answer;
  }

  /** True when it was answered with this status; UNAVAILABLE is the one other answer that there may be. */
  succeeded(what: string, answer: ApiAnswer, status: number): boolean {
    const done = answer.status === status;
    if (!done && !isUnavailable(answer))
      this.violations.push(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    this.count(`${what}: ${done ? 'done' : 'unavailable'}`);
    return done;
  }

  /** Holds what happened to the promises that need no second look. */
  expectKept(): void {
    expect(this.violations.slice(0, 10)).toEqual([]);
    expect(this.envelopes.filter(({ accepted }) => accepted > 1)).toEqual([]);
    // The service promises three seconds. A request takes several turns, each of which the machine may hold up.
    expect(this.longest.milliseconds, this.longest.what).toBeLessThan(3_500 + 4 * this.longestControl);
  }
}

export function isUnavailable({ status, body }: ApiAnswer): boolean {
  return status === 503 && /"code":"UNAVAILABLE"/.test(JSON.stringify(body));
}
