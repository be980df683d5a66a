import { z } from 'zod';
import { Prisma } from './client.ts';

/** The pg adapter's report of a violated constraint: the name of the index, or its columns. */
const violation = z.object({
  driverAdapterError: z.object({
    cause: z.object({
      constraint: z.object({ index: z.string().default(''), fields: z.array(z.string()).default([]) }),
    }),
  }),
});

/** True if another row has the same value in this column (P2002). */
export function isUniqueViolation(error: unknown, column: string): boolean {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError) || error.code !== 'P2002') return false;
  const parsed = violation.safeParse(error.meta);
  if (!parsed.success) return false;
  const { index, fields } = parsed.data.driverAdapterError.cause.constraint;
  return index.includes(column) || fields.includes(column);
}

/** True if the row to change or delete does not exist (P2025). */
export function isRecordNotFound(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2025';
}

/**
 * Codes of the operating system, of PostgreSQL (class 57P, 08, 53) and of Prisma for a database that is unreachable, that
 * has no disk space or memory left (53), whose disk fails (58030, and 58P02 for a file that already exists), that is
 * read-only, such as a demoted primary (25006), that cancelled a statement, for example by an operator's
 * statement_timeout (57014), or where other transactions hold the needed locks for too long (55P03, 25P03).
 */
const unavailableCode =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOENT|EHOSTUNREACH|57P0[123]|57014|08...|53[0-3]00|58030|58P02|25006|55P03|25P03|40P01|40001|P1001|P1002|P1008|P1017|P2024|P2028|P2034)$/;

/** The adapter's description of a failure: PostgreSQL's code, if it sent one, and the adapter's own kind of error. */
const adapterCause = z.object({
  originalCode: z.string().optional(),
  originalMessage: z.string().optional(),
  kind: z.string().optional(),
});

/**
 * For a query, Prisma puts the adapter's error into `meta`, because codes such as P2010 say only that a raw query failed.
 * A failed COMMIT throws the adapter's error itself.
 */
const inMeta = z.object({ meta: z.object({ driverAdapterError: z.object({ cause: adapterCause }) }) });
const ofTransaction = z.object({ name: z.literal('DriverAdapterError'), cause: adapterCause });

function adapterCauseOf(error: Error): z.infer<typeof adapterCause> {
  const ofQuery = inMeta.safeParse(error);
  if (ofQuery.success) return ofQuery.data.meta.driverAdapterError.cause;
  return ofTransaction.safeParse(error).data?.cause ?? {};
}

const lostConnection: ReadonlySet<string | undefined> = new Set([
  'ConnectionClosed',
  'SocketTimeout',
  'DatabaseNotReachable',
  'TooManyConnections',
]);

const codesOf = (error: Error): string[] => {
  const { originalCode } = adapterCauseOf(error);
  return [
    ...('code' in error && typeof error.code === 'string' ? [error.code] : []),
    ...(originalCode === undefined ? [] : [originalCode]),
  ];
};

/**
 * PostgreSQL has one code for a file that it may not write and for a table that a role may not access (42501). The former
 * happens on a disk that was remounted as read-only (EROFS).
 */
const refusedFile = /could not .+: (Read-only file system|Permission denied|Operation not permitted)$/;

/** True for PostgreSQL's errors when its disk rejects writes, has no space, or no file can be opened. */
export const isRefusedByDisk = (code: string, message: string): boolean =>
  /^(53[01]00|58030|58P02)$/.test(code) || (code === '42501' && refusedFile.test(message));

/** True if the database is unreachable, not writable or too slow, so that a later attempt may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (codesOf(cause).some((code) => unavailableCode.test(code))) return true;
    const { kind, originalMessage = cause.message } = adapterCauseOf(cause);
    if (codesOf(cause).some((code) => isRefusedByDisk(code, originalMessage))) return true;
    if (lostConnection.has(kind)) return true;
    if (/timeout exceeded when trying to connect|Connection terminated|not queryable/.test(cause.message))
      return true;
  }
  return false;
}

/**
 * True if PostgreSQL aborted the transaction because of a deadlock or a serialization failure. The transaction is rolled
 * back and can be retried at once.
 */
export function isTransactionVictim(error: unknown): boolean {
  return error instanceof Error && codesOf(error).some((code) => /^(40P01|40001|P2034)$/.test(code));
}

/** True if a statement exceeded `statement_timeout` or was cancelled. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && codesOf(error).includes('57014');
}

/** True if a statement exceeded `lock_timeout` while another transaction held a lock that it needs. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && codesOf(error).includes('55P03');
}
