import { Prisma } from '../db/client.ts';
import type { FromJson } from '../db/from-json.ts';
import type { ServiceContext } from './context.ts';
import { inReadTurn } from './developer-turns.ts';

/**
 * Runs a statement that Prisma's template made safe, without Prisma, in the turn of the developer who asks.
 * @throws {ServiceError} TOO_MANY_READS
 */
export async function run<Row extends object>(ctx: ServiceContext, sql: Prisma.Sql): Promise<Row[]> {
  const { rows } = await inReadTurn(ctx, () => ctx.env.database.pool.query<Row>(sql.text, sql.values));
  return rows;
}

interface Waiting {
  readonly sql: Prisma.Sql;
  readonly fromJson: FromJson;
  resolve(rows: object[]): void;
  reject(error: unknown): void;
}

const waiting = new WeakMap<ServiceContext, Waiting[]>();

/**
 * The same as `run`, as part of one statement for all that a request reads so in the same moment: each statement costs
 * a message to the database and back, more than reading a few rows does. The rows come as JSON, which is parsed much
 * quicker than rows are. If one of the statements fails, all fail.
 */
export function runTogether<Row extends object>(
  ctx: ServiceContext,
  sql: Prisma.Sql,
  fromJson: FromJson,
): Promise<Row[]> {
  return new Promise<Row[]>((resolve, reject) => {
    // The columns are those of the statement, whose rows the caller types.
    const one = { sql, fromJson, resolve: (rows: object[]) => resolve(rows as Row[]), reject };
    const others = waiting.get(ctx);
    if (others !== undefined) {
      others.push(one);
      return;
    }
    const gathered = [one];
    waiting.set(ctx, gathered);
    queueMicrotask(() => {
      waiting.delete(ctx);
      send(ctx, gathered);
    });
  });
}

async function send(ctx: ServiceContext, gathered: readonly Waiting[]): Promise<void> {
  try {
    const lists = gathered.map(
      ({ sql }, index) =>
        Prisma.sql`(SELECT json_agg(list) FROM (${sql}) AS list) AS ${Prisma.raw(`"${index}"`)}`,
    );
    const [found] = await run<Record<number, Record<string, unknown>[] | null>>(
      ctx,
      Prisma.sql`SELECT ${Prisma.join(lists)}`,
    );
    for (const [index, { fromJson, resolve }] of gathered.entries()) {
      const rows = found?.[index] ?? [];
      readValues(rows, fromJson);
      resolve(rows);
    }
  } catch (error) {
    for (const { reject } of gathered) reject(error);
  }
}

/** Puts values in the places of their texts. */
export function readValues(rows: readonly Record<string, unknown>[], fromJson: FromJson): void {
  for (const [column, read] of Object.entries(fromJson)) {
    for (const row of rows) {
      const text = row[column];
      if (typeof text === 'string') row[column] = read(text);
    }
  }
}
