import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import type { LabelledCounter } from '../telemetry/labelled-counter.ts';
import type { DatabaseAddress } from './address.ts';
import { PrismaClient } from './client.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { startLogPartitions } from './log-partitions.ts';
import { migrate } from './migrate.ts';
import { type Migration, readMigrations } from './migrations.ts';
import { discardMintUnderWay } from './mint-under-way.ts';
import { explained } from './refused-statement.ts';
import { connectServer, type ServerState } from './server.ts';
import { schema } from './session-settings.ts';
import { explainRefusal } from './start-error.ts';
import { countStatementErrors } from './statement-errors.ts';
import { strayInstallations } from './stray-installations.ts';

/** An open, migrated database. */
export interface Database {
  readonly kind: DatabaseAddress['kind'];
  readonly prisma: PrismaClient;
  /**
   * The connections that `prisma` uses, for hand-written SQL. The embedded database has one connection, so code in a
   * transaction must not wait for a query outside of it; and it supports no named statements.
   */
  readonly pool: pg.Pool;
  /** Whether the server was available when it was last asked. This call does no I/O. */
  isAvailable(): boolean;
  /**
   * True if it answers but is read-only, such as a demoted primary, or an embedded database whose disk is full or
   * read-only. As cheap as `isAvailable`.
   */
  isReadOnly(): boolean;
  /** Records what the watch of a server found; an embedded database ignores it. */
  noteState(state: ServerState): void;
  /** Counts PostgreSQL's errors by class of SQLSTATE. */
  readonly errors: LabelledCounter;
  /** Waits for running queries, then closes all connections. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly log: Logger;
  /** Maximum number of connections to a server. */
  readonly maxConnections?: number;
  /**
   * Called when an embedded database dies while it is open. Queries fail from then on, and the process should end.
   * Without it the death is only logged.
   */
  readonly onFatal?: (error: Error) => void;
}

interface Connections {
  readonly pool: pg.Pool;
  isAvailable(): boolean;
  isReadOnly(): boolean;
  noteState(state: ServerState): void;
  close(): Promise<void>;
}

/**
 * Opens the database, applies pending migrations, and creates the log partitions of the coming weeks.
 * @throws {DatabaseStartError} with a message for the operator
 */
export async function openDatabase(address: DatabaseAddress, options: DatabaseOptions): Promise<Database> {
  const { log } = options;
  const migrations = await readMigrations();
  const { pool, isAvailable, isReadOnly, noteState, close } = await connect(address, options, migrations);
  const errors = countStatementErrors(pool);
  try {
    await migrate(pool, { log, migrations });
    // Discards the mint of a process that died. No other process uses an embedded database.
    if (address.kind !== 'server') await discardMintUnderWay(pool);
    await startLogPartitions(pool, new Date(), log);
    if (address.kind === 'server') await warnOfStrays(pool, log);
  } catch (error) {
    await close().catch(() => undefined);
    throw explainRefusal(error);
  }
  // On the embedded database, transactions queue for one connection and may wait longer than Prisma's default of 2 s.
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { schema }),
    transactionOptions: { maxWait: 10_000 },
  });
  return {
    kind: address.kind,
    prisma,
    pool,
    isAvailable,
    isReadOnly,
    noteState,
    errors,
    close: async () => {
      await prisma.$disconnect();
      await close();
    },
  };
}

async function warnOfStrays(pool: pg.Pool, log: Logger): Promise<void> {
  const schemas = await explained(strayInstallations(pool));
  if (schemas.length === 0) return;
  log.warn(
    { schemas },
    `The database also has Latchkey's tables in schemas other than ${schema}, and they are not used: run "latchkey doctor" for details`,
  );
}

async function connect(
  address: DatabaseAddress,
  { log, onFatal, maxConnections }: DatabaseOptions,
  migrations: readonly Migration[],
): Promise<Connections> {
  if (address.kind === 'server') {
    return connectServer(address.url, log, maxConnections);
  }
  let isAlive = true;
  const embedded = await openEmbedded(address.kind === 'memory' ? null : address.directory, {
    log,
    migrations,
    onFatal: (error) => {
      isAlive = false;
      log.fatal({ err: error }, 'The embedded database died');
      onFatal?.(error);
    },
  });
  return { ...embedded, isAvailable: () => isAlive, noteState: () => undefined };
}
