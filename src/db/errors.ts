import { z } from 'zod';
import { Prisma } from './client.ts';

/** Where the pg adapter says which constraint was violated: the index by its name, or its columns. */
const violation = z.object({
  driverAdapterError: z.object({
    cause: z.object({
      constraint: z.object({ index: z.string().default(''), fields: z.array(z.string()).default([]) }),
    }),
  }),
});

/** True when a row with the same value of this column was there already (P2002). */
export function isUniqueViolation(error: unknown, column: string): boolean {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError) || error.code !== 'P2002') return false;
  const parsed = violation.safeParse(error.meta);
  if (!parsed.success) return false;
  const { index, fields } = parsed.data.driverAdapterError.cause.constraint;
  return index.includes(column) || fields.includes(column);
}

/** True when the row to change or delete was not there (P2025). */
export function isRecordNotFound(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2025';
}
