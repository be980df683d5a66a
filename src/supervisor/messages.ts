import { z } from 'zod';
import type { ProcessMetrics } from '../telemetry/workers-page.ts';

/** The argument that starts this program as a worker. The worker's number follows. */
export const workerArgument = 'worker';

/**
 * Messages to a worker. `connection` carries a socket. `metrics` asks for metrics; the number identifies the answer.
 * `stop` starts a graceful shutdown. Messages arrive in the order in which they were sent, so no connection follows it.
 */
export const toWorker = z.union([z.enum(['connection', 'stop']), z.object({ metrics: z.int() })]);
export type ToWorker = z.infer<typeof toWorker>;

/** JSON turns NaN, the value of a metric without observations, into null. */
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
 * Messages from a worker. `ready`: it accepts connections. `taken`: it begins to read from the next connection that it was
 * given. `leaving`: it wants no more connections, and a `stop`. `failed`: it cannot start, with a message for the operator.
 * `metrics`: the answer to the request with this number.
 */
export const toSupervisor = z.union([
  z.enum(['ready', 'taken', 'leaving']),
  z.object({ failed: z.string() }),
  z.object({ metrics: z.int(), families: processMetrics }),
]);
export type ToSupervisor = z.input<typeof toSupervisor>;
