import type { HttpAnswer, HttpRequest } from './http-message.ts';

/** The programs that a run measures. */
export type Target = 'service' | 'bare';

/** One kind of request that a run drives over and over. */
export interface Scenario {
  readonly name: string;
  /** Whom it asks and whose CPU time counts: the service when left out. */
  readonly target?: Target;
  /**
   * Makes requests ahead of a block, which may take so many, so that their making does not hold the block up. Where
   * more are asked for, `next` makes them.
   */
  prepare?(requests: number): Promise<void>;
  /** The next request: the same one again, or a fresh one where the service takes each only once. */
  next(): HttpRequest;
  /** What is wrong with an answer; null when nothing is. It is asked of every answer, so it must be cheap. */
  faultOf(answer: HttpAnswer): string | null;
  /** What is wrong with an answer, looked at closely; null when nothing is. Asked once, before the run. */
  closeFaultOf(body: unknown): string | null;
}

/** Two scenarios to compare within a run. Goals are for people to read, never a check. */
export interface Comparison {
  readonly measured: string;
  readonly against: string;
  /**
   * `cost`: CPU of a request, where less is better. `rate`: requests per CPU-second, where more is; the inverse.
   * `p50`: the middle latency.
   */
  readonly of: 'cost' | 'rate' | 'p50';
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** What a bad answer says, shortened for a terminal. */
export const quote = ({ status, body }: HttpAnswer): string => `${status} ${body.toString().slice(0, 300)}`;
