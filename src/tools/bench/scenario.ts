import type { HttpAnswer, HttpRequest } from './http-message.ts';

/** One kind of request that a run drives over and over. */
export interface Scenario {
  readonly name: string;
  /** The next request: the same one again, or a fresh one where the service takes each only once. */
  next(): HttpRequest;
  /** What is wrong with an answer; null when nothing is. It is asked of every answer, so it must be cheap. */
  faultOf(answer: HttpAnswer): string | null;
  /** What is wrong with an answer, looked at closely; null when nothing is. Asked once, before the run. */
  closeFaultOf(body: unknown): string | null;
}

/** Two scenarios to compare by what a request costs the service. */
export interface Comparison {
  readonly measured: string;
  readonly against: string;
  /** What the ratio is to stay within; a goal that people read, not a check. */
  readonly atMost?: number;
}

/** What a bad answer says, shortened for a terminal. */
export const quote = ({ status, body }: HttpAnswer): string => `${status} ${body.toString().slice(0, 300)}`;
