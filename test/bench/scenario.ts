import type { HttpAnswer, HttpRequest } from './http-message.ts';

/**
 * The programs that a run measures: the service, the bare program, and for comparisons of two services a second one
 * (with little in its database, or with fewer workers).
 */
export type Target = 'service' | 'bare' | 'other';

/** One kind of request that a run drives over and over. */
export interface Scenario {
  readonly name: string;
  /** Whom it asks and whose CPU time counts: the service when left out. */
  readonly target?: Target;
  /** Whether each answer is a validation by the service, which its log is to have. */
  readonly isLogged?: boolean;
  /** Connections that ask at once: as many as the run has when left out. */
  readonly connections?: number;
  /** How long each connection waits between an answer and its next request; not at all when left out. */
  readonly pauseMilliseconds?: number;
  /** What is driven beside it, and not measured. */
  readonly beside?: { readonly scenario: Scenario; readonly connections: number };
  /**
   * Makes requests ahead of a block, which may take so many, so that their making does not hold the block up. Where
   * more are asked for, `next` makes them.
   */
  prepare?(requests: number): Promise<void>;
  /** The next request: the same one again, or a fresh one where the service takes each only once. */
  next(): HttpRequest;
  /** What is wrong with an answer; null when nothing is. It is asked of every answer, so it must be cheap. */
  faultOf(answer: HttpAnswer): string | null;
  /** What is wrong with the answer to this request, looked at closely; null when nothing is. Asked once, before the run. */
  closeFaultOf(answer: HttpAnswer, request: HttpRequest): string | null;
  /** Whether that is asked again after each block, about the last answer of each connection. */
  readonly isCheckedInBlocks?: boolean;
}

/** Two scenarios to compare within a run. Goals are for people to read, never a check. */
export interface Comparison {
  readonly measured: string;
  readonly against: string;
  readonly of: ComparedFigure;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/**
 * `cost`: CPU of a request, where less is better. `rate`: requests per CPU-second, where more is; its inverse.
 * `mainThreadRate`: the same by the CPU of the main thread alone. `throughput`: requests per second of the clock.
 * `p50`: the middle latency.
 */
export type ComparedFigure = 'cost' | 'rate' | 'mainThreadRate' | 'throughput' | 'p50';

/** The body of an answer that is JSON. @throws {SyntaxError} when it is not */
export const jsonOf = ({ body }: HttpAnswer): unknown => JSON.parse(body.toString());

/** What a bad answer says, shortened for a terminal. */
export const quote = ({ status, body }: HttpAnswer): string => `${status} ${body.toString().slice(0, 300)}`;
