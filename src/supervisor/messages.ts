import { z } from 'zod';
import type { ProcessMetrics } from '../telemetry/workers-page.ts';

/** The word that starts this program as a worker, before the worker's number. */
export const workerArgument = 'worker';

/**
 * `connection` comes with one. `metrics`: tell what you know of yourself, in answer to the question of this number.
 * `stop` is the last word: end in order. Messages arrive in the order in which they were sent, so after it comes no
 * connection.
 */
export const toWorker = z.union([z.enum(['connection', 'stop']), z.object({ metrics: z.int() })]);
export type ToWorker = z.infer<typeof toWorker>;

/** A number that is none (NaN, of what has not been seen yet) is null on its way. */
const value = z
  .number()
  .nullable()
  .transform((given) => given ?? Number.NaN);

const sample = z.object({
  value,
  labels: z.record(z.string(), z.union([z.string(), z.number()]).optional()),
  metricName: z.string().optional(),
});
const processMetrics = z
  .array(
    z.object({
      name: z.string(),
      help: z.string(),
      type: z.string(),
      aggregator: z.string(),
      values: z.array(sample).readonly(),
    }),
  )
  .readonly() satisfies z.ZodType<ProcessMetrics>;

/**
 * `ready`: give me connections. `taken`: of those that I was given the next is mine, and I begin to read from it.
 * `leaving`: give me no more, and tell me to stop. `failed`: I cannot start, and this is what to tell the operator.
 * `metrics`: the answer to the question of this number.
 */
export const toSupervisor = z.union([
  z.enum(['ready', 'taken', 'leaving']),
  z.object({ failed: z.string() }),
  z.object({ metrics: z.int(), families: processMetrics }),
]);
export type ToSupervisor = z.input<typeof toSupervisor>;
