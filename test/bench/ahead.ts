import type { HttpRequest } from './http-message.ts';

/** Requests that are made before they are asked for. */
export interface Ahead {
  prepare(amount: number): void;
  next(): HttpRequest;
}

/** Keeps requests that `make` has made; those of an earlier block are thrown away, as they may be too old. */
export function makeAhead(make: () => HttpRequest): Ahead {
  let made: HttpRequest[] = [];
  return {
    prepare: (amount) => {
      made = Array.from({ length: amount }, make);
    },
    next: () => made.pop() ?? make(),
  };
}
