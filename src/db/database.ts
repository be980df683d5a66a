import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import type { LabelledCounter } from '../telemetry/labelled-counter.ts';
import type { DatabaseAddress } from './address.ts';
import { PrismaClient } from './client.ts';
import { openEmbedded } from './embedded/embedded.ts';
import type { LogPartitionUnit } from './log-partition.ts';
import { startLogPartitions } from './log-partitions.ts';
import { migrate } from './migrate.ts';
import { type Migration, readMigrations } from './migrations.ts';
import { discardMintUnderWay } from './mint-under-way.ts';
import { explained } from './refused-statement.ts';
import { requireMigrated } from './require-migrated.ts';
import type { MigrateMode } from './schema-upkeep.ts';
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
  /** False while commits wait for a synchronous standby that does not answer. As cheap as `isAvailable`. */
  confirmsWrites(): boolean;
  /** Records what the watch of a server found; an embedded database ignores it. */
  noteState(state: ServerState): void;
  /** Closes the connections to these backends of a server; an embedded database ignores it. */
  hangUp(backends: ReadonlySet<number>): void;
  /** Counts PostgreSQL's errors by class of SQLSTATE. */
  readonly errors: LabelledCounter;
  /** Waits for running queries, then closes all connections. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly log: Logger;
  /** Maximum number of connections to a server. */
  readonly maxConnections?: number;
  /** Default: `week`. */
  readonly logPartitions?: LogPartitionUnit;
  /** Default: `auto`. */
  readonly migrate?: MigrateMode;
  /**
   * Called when an embedded database dies while it is open. Queries fail from then on, and the process should end.
   * Without it the death is only logged.
   */
  readonly onFatal?: (error: Error) => void;
}

type Connections = Omit<Database, 'kind' | 'prisma' | 'errors'>;

/**
 * Opens the database. Unless it only checks the schema, it applies pending migrations and creates the log partitions of
 * the coming weeks.
 * @throws {DatabaseStartError} with a message for the operator
 */
export async function openDatabase(address: DatabaseAddress, options: DatabaseOptions): Promise<Database> {
  const { log } = options;
  const migrations = await readMigrations();
  const connections = await connect(address, options, migrations);
  const { pool, close } = connections;
  const errors = countStatementErrors(pool);
  try {
    if (options.migrate === 'check') {
      await requireMigrated(pool, { log, migrations });
    } else {
      await migrate(pool, { log, migrations });
      await startLogPartitions(pool, new Date(), log, options.logPartitions);
    }
    // Discards the mint of a process that died. No other process uses an embedded database.
    if (address.kind !== 'server') await discardMintUnderWay(pool);
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
    ...connections,
    kind: address.kind,
    prisma,
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
  return {
    ...embedded,
    isAvailable: () => isAlive,
    confirmsWrites: () => true,
    noteState: () => undefined,
    hangUp: () => undefined,
  };
}
