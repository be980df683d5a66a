import { expect } from 'vitest';
import type { ApiAnswer } from '../setup/api-client.ts';

/** Requests under load and their results, to check the promises. */
export class Ledger {
  /** Descriptions of broken promises. */
  readonly violations: string[] = [];
  /** Envelopes that were sent, and how often each was accepted. */
  readonly envelopes: { readonly body: unknown; accepted: number }[] = [];
  /** Acknowledged license keys. */
  readonly mintedKeys: string[] = [];
  /** Acknowledged API keys. */
  readonly apiKeys: string[] = [];
  readonly counts = new Map<string, number>();
  /** The longest duration of a request in milliseconds, and its name. */
  longest = { milliseconds: 0, what: 'nothing' };
  /** The longest duration of a request that needs no other server: the noise of the machine. */
  longestControl = 0;

  /** Counts from this call on. */
  since(): (what: string) => number {
    const before = new Map(this.counts);
    return (what) => this.counted(what) - (before.get(what) ?? 0);
  }

  /** The number of acknowledged writes. */
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

  /** Sends a request and records its duration. */
  async timed(what: string, send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const start = performance.now();
    const answer = await send();
    const milliseconds = performance.now() - start;
    if (milliseconds > this.longest.milliseconds) this.longest = { milliseconds, what };
    return answer;
  }

  /** True if the response has this status. The only other allowed response is UNAVAILABLE. */
  succeeded(what: string, answer: ApiAnswer, status: number): boolean {
    const done = answer.status === status;
    if (!done && !isUnavailable(answer))
      this.violations.push(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    this.count(`${what}: ${done ? 'done' : 'unavailable'}`);
    return done;
  }

  /** Checks the promises that need no further requests. */
  expectKept(): void {
    expect(this.violations.slice(0, 10)).toEqual([]);
    expect(this.envelopes.filter(({ accepted }) => accepted > 1)).toEqual([]);
    // The service promises three seconds. A request has several steps, each of which the machine may delay.
    expect(this.longest.milliseconds, this.longest.what).toBeLessThan(3_500 + 4 * this.longestControl);
  }
}

export function isUnavailable({ status, body }: ApiAnswer): boolean {
  return status === 503 && /"code":"UNAVAILABLE"/.test(JSON.stringify(body));
}
