import type { Command } from 'commander';
import { loadDataConfig } from '../../config.ts';
import type { DatabaseAddress } from '../../db/address.ts';
import { startLogPartitions } from '../../db/log-partitions.ts';
import { migrate } from '../../db/migrate.ts';
import { compareHistory, readAppliedMigrations, warnOfUnknown } from '../../db/migration-history.ts';
import { type Migration, readMigrations } from '../../db/migrations.ts';
import { commandLog, connect, describeAddress, hasEmbeddedDatabase } from '../database.ts';
import { say, type Terminal } from '../terminal.ts';

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  program
    .command('migrate')
    .description('apply pending migrations, as the service does when it starts')
    .option('--dry-run', 'only list the pending migrations')
    .action(async ({ dryRun = false }: { dryRun?: boolean }) => {
      const { database: address } = loadDataConfig(terminal.env);
      const migrations = await (dryRun ? findPending : applyPending)(address, terminal);
      const where = describeAddress(address);
      if (migrations.length === 0) say(terminal.stdout, `Nothing to do: ${where} is up to date.`);
      else say(terminal.stdout, `${dryRun ? 'Pending on' : 'Applied to'} ${where}:`);
      for (const { name } of migrations) say(terminal.stdout, `  ${name}`);
    });
}

async function applyPending(address: DatabaseAddress, terminal: Terminal): Promise<readonly Migration[]> {
  const migrations = await readMigrations();
  // `connect` creates a missing embedded database with all migrations applied.
  const isCreated = isMissing(address);
  const { pool, close } = await connect(address, migrations, terminal);
  try {
    const log = commandLog(terminal);
    const applied = await migrate(pool, { log, migrations, signal: terminal.signal });
    await startLogPartitions(pool, new Date(), log);
    return isCreated ? migrations : applied;
  } finally {
    await close();
  }
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
