import { ServiceError } from './errors.ts';

/** For so many milliseconds a request may have the database search lists, and count what is long. */
export const workLimits = { searching: 2_500, counting: 10_000 } as const;

/**
 * What a request may still have the database do, and whether its answer is still wanted. One a request: all parts of a
 * GraphQL document draw on the same time.
 */
export class RequestWork {
  readonly #request: { readonly signal: AbortSignal };
  readonly #spent: { milliseconds: number };

  /** @param request whose signal is made when it is first read: most requests do without */
  constructor(request: { readonly signal: AbortSignal }, spent = { milliseconds: 0 }) {
    this.#request = request;
    this.#spent = spent;
  }

  /** Aborted when the answer is complete, or its reader gone. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** A part of it that can be given up alone, and draws on the same time. */
  part(signal: AbortSignal): RequestWork {
    return new RequestWork({ signal: AbortSignal.any([this.signal, signal]) }, this.#spent);
  }

  /** Counts time that statements took. */
  spend(milliseconds: number): void {
    this.#spent.milliseconds += milliseconds;
  }

  hasSpent(limit: keyof typeof workLimits): boolean {
    return this.#spent.milliseconds >= workLimits[limit];
  }
}

/** Nobody reads this: the reader is gone, or has what they asked for. */
export const workAbandoned = () =>
  new ServiceError('UNAVAILABLE', 'The request had ended before this was read.');

/** What was asked for reads too many rows. It is not worth trying again as it is. */
export const searchTooBroad = (cause?: unknown) =>
  new ServiceError(
    'SEARCH_TOO_BROAD',
    `The searches of this request took more than ${workLimits.searching / 1000} seconds of database time in all. Search ` +
      'for a longer text, three letters or digits at the least, narrow the filter, or leave the count out.',
    { cause },
  );
