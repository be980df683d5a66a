import { z } from 'zod';

/** The word that starts this program as a worker, before the worker's number. */
export const workerArgument = 'worker';

/**
 * `connection` comes with one. `stop` is the last word: end in order. Messages arrive in the order in which they were
 * sent, so after it comes no connection.
 */
export const toWorker = z.enum(['connection', 'stop']);
export type ToWorker = z.infer<typeof toWorker>;

/**
 * `ready`: give me connections. `taken`: of those that I was given the next is mine, and I begin to read from it.
 * `leaving`: give me no more, and tell me to stop. `failed`: I cannot start, and this is what to tell the operator.
 */
export const toSupervisor = z.union([
  z.enum(['ready', 'taken', 'leaving']),
  z.object({ failed: z.string() }),
]);
export type ToSupervisor = z.infer<typeof toSupervisor>;
