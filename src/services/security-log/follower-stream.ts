import type { Follower } from './followers.ts';

/** The stream is interrupted, not finished: the client should reconnect and resume, perhaps at another instance. */
export class StreamInterrupted extends Error {
  override readonly name = 'StreamInterrupted';
}

/**
 * The iterator of a stream that a client can leave at any time.
 * @param read gets a function that tells whether the client has left
 */
export function streamOf<Item>(
  follower: Follower,
  read: (hasLeft: () => boolean) => AsyncGenerator<Item, undefined>,
): AsyncIterableIterator<Item> {
  let left = false;
  const items = read(() => left);
  return {
    next: () => items.next(),
    // Takes effect at once, even while `next` waits: the generator's own `return` would wait for `next`.
    return: () => {
      left = true;
      follower.end();
      return items.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
