import { ServiceError } from './errors.ts';

/** Database time that one request may use for searches and for counts, in milliseconds. */
export const workLimits = { searching: 2_500, counting: 10_000 } as const;

/**
 * How long after its beginning a request may still begin a further part of a long change, in milliseconds. The server closes
 * a connection that is silent for 150 seconds (http-limits.ts), and a part waits for up to 20 seconds for its turn.
 */
export const longestRun = 100_000;

/**
 * A request's database time, and whether its response is still needed. There is one per request: all fields of a GraphQL
 * document share the time.
 */
export class RequestWork {
  readonly #request: { readonly signal: AbortSignal };
  readonly #spent: { milliseconds: number };
  readonly #begunAt: number;

  /** @param request passed instead of its signal, which is created on first access and not needed by most requests */
  constructor(
    request: { readonly signal: AbortSignal },
    spent = { milliseconds: 0 },
    begunAt = performance.now(),
  ) {
    this.#request = request;
    this.#spent = spent;
    this.#begunAt = begunAt;
  }

  /** Aborted when the response is complete or the client has disconnected. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** A part that can be aborted separately and shares the request's time. */
  part(signal: AbortSignal): RequestWork {
    return new RequestWork({ signal: AbortSignal.any([this.signal, signal]) }, this.#spent, this.#begunAt);
  }

  /** Adds the time that statements took. */
  spend(milliseconds: number): void {
    this.#spent.milliseconds += milliseconds;
  }

  /** Whether a long change must end now, so that its answer still reaches the client. */
  isLate(): boolean {
    return performance.now() - this.#begunAt >= longestRun;
  }

  hasSpent(limit: keyof typeof workLimits): boolean {
    return this.#spent.milliseconds >= workLimits[limit];
  }
}

/** The error for work that is no longer needed: the client has disconnected or already has its response. */
export const workAbandoned = () => new ServiceError('UNAVAILABLE', 'The request ended before this was read.');

/** The error for a part of a long change that would begin too late. */
export const tooLate = () =>
  new ServiceError(
    'UNAVAILABLE',
    'This request has taken too long to begin another change. Send the rest again.',
  );

/** The error for a search that reads too many rows. Retrying it unchanged does not help. */
export const searchTooBroad = (cause?: unknown) =>
  new ServiceError(
    'SEARCH_TOO_BROAD',
    `The searches of this request used more than ${workLimits.searching / 1000} seconds of database time. Search for a ` +
      'longer text (at least three letters or digits), narrow the filter, or omit the count.',
    { cause },
  );
