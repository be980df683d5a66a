import type { Command } from 'commander';
import type { Pool } from 'pg';
import { type DataConfig, loadDataConfig } from '../../config.ts';
import type { DatabaseAddress } from '../../db/address.ts';
import { dropExpiredLogPartitions, startLogPartitions } from '../../db/log-partitions.ts';
import { migrate } from '../../db/migrate.ts';
import { compareHistory, readAppliedMigrations, warnOfUnknown } from '../../db/migration-history.ts';
import { type Migration, readMigrations } from '../../db/migrations.ts';
import { indexBuilders } from '../../db/schema-upkeep.ts';
import { systemClock } from '../../lib/clock.ts';
import { createPurgeClock } from '../../services/purge-clock.ts';
import { commandLog, connect, describeAddress, hasEmbeddedDatabase } from '../database.ts';
import { say, type Terminal } from '../terminal.ts';

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  program
    .command('migrate')
    .description('apply pending migrations, and do what else only the owner of the tables may do')
    .option('--dry-run', 'only list the pending migrations')
    .addHelpText(
      'after',
      '\nA service with MIGRATE=auto does the same by itself. With MIGRATE=check, run this at every upgrade, and once a day\n' +
        'for the coming partitions of the security log. On a PostgreSQL server it also builds missing indexes and, if\n' +
        'LOG_RETENTION_DAYS is set, drops the partitions that are older.',
    )
    .action(async ({ dryRun = false }: { dryRun?: boolean }) => {
      const config = loadDataConfig(terminal.env);
      const { database: address } = config;
      const migrations = await (dryRun ? findPending(address, terminal) : applyPending(config, terminal));
      const where = describeAddress(address);
      if (migrations.length === 0) say(terminal.stdout, `Nothing to do: ${where} is up to date.`);
      else say(terminal.stdout, `${dryRun ? 'Pending on' : 'Applied to'} ${where}:`);
      for (const { name } of migrations) say(terminal.stdout, `  ${name}`);
    });
}

async function applyPending(config: DataConfig, terminal: Terminal): Promise<readonly Migration[]> {
  const { database: address, logPartitions } = config;
  const migrations = await readMigrations();
  // `connect` creates a missing embedded database with all migrations applied.
  const isCreated = isMissing(address);
  const { pool, kind, close } = await connect(address, migrations, terminal);
  try {
    const log = commandLog(terminal);
    const applied = await migrate(pool, { log, migrations, signal: terminal.signal });
    await startLogPartitions(pool, new Date(), log, logPartitions);
    // The service does the same for its embedded database.
    if (kind === 'server') await maintainSchema(pool, config, terminal);
    return isCreated ? migrations : applied;
  } finally {
    await close();
  }
}

/** What only the owner of the tables may do, and services with MIGRATE=check leave to this command. */
async function maintainSchema(
  pool: Pool,
  { logRetentionDays }: DataConfig,
  terminal: Terminal,
): Promise<void> {
  const { signal, stdout } = terminal;
  const log = commandLog(terminal);
  const built: string[] = [];
  for (const build of indexBuilders(pool, log, signal)) built.push(...(await build()));
  if (built.length > 0) say(stdout, `Built indexes: ${built.join(', ')}`);
  if (logRetentionDays === null) return;
  const by = await createPurgeClock({ database: { kind: 'server', pool }, clock: systemClock, log }).look();
  const dropped = by === null ? [] : await dropExpiredLogPartitions(pool, by, logRetentionDays);
  if (dropped.length > 0) say(stdout, `Dropped log entries past their retention: ${dropped.join(', ')}`);
}

async function findPending(address: DatabaseAddress, terminal: Terminal): Promise<readonly Migration[]> {
  const migrations = await readMigrations();
  if (isMissing(address)) return migrations;
  const { pool, close } = await connect(address, migrations, terminal);
  try {
    const { pending, unknown } = compareHistory(migrations, await readAppliedMigrations(pool));
    warnOfUnknown(commandLog(terminal), unknown);
    return pending;
  } finally {
    await close();
  }
}

const isMissing = (address: DatabaseAddress): boolean =>
  address.kind === 'embedded' && !hasEmbeddedDatabase(address.directory);
