import { ServiceError } from './errors.ts';

/** Database time that one request may use for searches and for counts, in milliseconds. */
export const workLimits = { searching: 2_500, counting: 10_000 } as const;

/**
 * A request's database time, and whether its response is still needed. There is one per request: all fields of a GraphQL
 * document share the time.
 */
export class RequestWork {
  readonly #request: { readonly signal: AbortSignal };
  readonly #spent: { milliseconds: number };

  /** @param request passed instead of its signal, which is created on first access and not needed by most requests */
  constructor(request: { readonly signal: AbortSignal }, spent = { milliseconds: 0 }) {
    this.#request = request;
    this.#spent = spent;
  }

  /** Aborted when the response is complete or the client has disconnected. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** A part that can be aborted separately and shares the request's time. */
  part(signal: AbortSignal): RequestWork {
    return new RequestWork({ signal: AbortSignal.any([this.signal, signal]) }, this.#spent);
  }

  /** Adds the time that statements took. */
  spend(milliseconds: number): void {
    this.#spent.milliseconds += milliseconds;
  }

  hasSpent(limit: keyof typeof workLimits): boolean {
    return this.#spent.milliseconds >= workLimits[limit];
  }
}

/** The error for work that is no longer needed: the client has disconnected or already has its response. */
export const workAbandoned = () => new ServiceError('UNAVAILABLE', 'The request ended before this was read.');

/** The error for a search that reads too many rows. Retrying it unchanged does not help. */
export const searchTooBroad = (cause?: unknown) =>
  new ServiceError(
    'SEARCH_TOO_BROAD',
    `The searches of this request used more than ${workLimits.searching / 1000} seconds of database time. Search for a ` +
      'longer text (at least three letters or digits), narrow the filter, or omit the count.',
    { cause },
  );
