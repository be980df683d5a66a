import type { Command } from 'commander';
import { type DataConfig, loadDataConfig } from '../../config.ts';
import type { Keyring } from '../../crypto/keyring.ts';
import type { LogPartitionUnit } from '../../db/log-partition.ts';
import { ensureLogPartitions } from '../../db/log-partitions.ts';
import { migrate, withMigrationLock } from '../../db/migrate.ts';
import { type Migration, readMigrations } from '../../db/migrations.ts';
import { findKeyring } from '../../services/application/open-keyring.ts';
import { type BackupHeader, rowsIn } from '../backup/format.ts';
import { openBackup } from '../backup/read.ts';
import { type Connections, commandLog, connect, describeAddress } from '../database.ts';
import { CommandError } from '../failure.ts';
import { print, startProgress } from '../progress.ts';
import { insertBackup } from '../restore/insert.ts';
import { type Inspection, inspectBackup, listSome } from '../restore/inspect.ts';
import { migrationsOf, refuseIfServed, refuseOtherTables, refuseUnlessEmpty } from '../restore/target.ts';
import { say, type Terminal } from '../terminal.ts';

export function addRestoreCommand(program: Command, terminal: Terminal): void {
  program
    .command('restore')
    .description('restore a backup into an empty database, embedded or on a server')
    .argument('<file>', 'a file written by "latchkey backup"')
    .option(
      '--allow-unreadable-keys',
      'restore even if the master secret cannot decrypt the private keys of some applications',
    )
    .addHelpText(
      'after',
      '\nStop the service and close all other connections to the database first. A restore is atomic: it restores\n' +
        'everything or nothing. If the master secret is available (SERVICE_SECRET, or service-secret in DATA_DIR),\n' +
        'it must be the one that the backup was made with.',
    )
    .action(async (file: string, { allowUnreadableKeys = false }: { allowUnreadableKeys?: boolean }) => {
      if (file === '-') {
        throw new CommandError(
          'A restore reads its file twice, so it cannot read standard input: write it to a file first.',
        );
      }
      const config = loadDataConfig(terminal.env);
      const keyring = readKeyring(config);
      const migrations = await readMigrations();
      const { header, had, inspection } = await inspect(
        file,
        { keyring, migrations, allowUnreadableKeys },
        terminal,
      );
      const connections = await connect(config.database, had, terminal);
      try {
        const where = describeAddress(config.database);
        const { logPartitions } = config;
        const since = await restore(
          connections,
          { file, had, migrations, where, inspection, logPartitions },
          terminal,
        );
        report(header, { file, where, since, isSecretKnown: keyring !== null }, terminal);
        if (inspection.unreadable.length > 0) warnOfKeys(inspection.unreadable, terminal);
      } finally {
        await connections.close();
      }
    });
}

/** Null if no master secret is configured. A restore does not need it. */
function readKeyring(config: DataConfig): Keyring | null {
  if (config.serviceSecret === null && config.database.kind !== 'embedded') return null;
  return findKeyring(config);
}

async function inspect(
  file: string,
  {
    keyring,
    migrations,
    allowUnreadableKeys,
  }: {
    readonly keyring: Keyring | null;
    readonly migrations: readonly Migration[];
    readonly allowUnreadableKeys: boolean;
  },
  terminal: Terminal,
): Promise<{
  readonly header: BackupHeader;
  readonly had: readonly Migration[];
  readonly inspection: Inspection;
}> {
  const backup = await openBackup(file, terminal.signal);
  const { header } = backup;
  const had = migrationsOf(header, migrations);
  refuseOtherTables(header);
  const progress = startProgress(terminal, { title: 'Checking', total: rowsIn(header), unit: 'rows' });
  try {
    const options = { keyring, allowUnreadableKeys, onRows: progress.advance };
    return { header, had, inspection: await inspectBackup(backup, options) };
  } finally {
    progress.end();
  }
}

interface Restoration {
  readonly file: string;
  /** The migrations that had been applied where the backup was made. */
  readonly had: readonly Migration[];
  readonly migrations: readonly Migration[];
  readonly where: string;
  readonly inspection: Inspection;
  readonly logPartitions: LogPartitionUnit;
}

/** @returns the migrations later than the backup, which have been applied too */
async function restore(
  { pool, kind }: Connections,
  { file, had, migrations, where, inspection, logPartitions }: Restoration,
  terminal: Terminal,
): Promise<readonly Migration[]> {
  const { signal } = terminal;
  const log = commandLog(terminal);
  await refuseUnlessEmpty(pool, had, where);
  await migrate(pool, { log, migrations: had, signal });
  // Without a partition for their week, older entries would go to the default partition and be deleted one by one.
  for (const week of inspection.logWeeks) await ensureLogPartitions(pool, new Date(week));
  await ensureLogPartitions(pool, new Date(), logPartitions);

  await withMigrationLock(pool, { log, signal }, async (client) => {
    if (kind === 'server') await refuseIfServed(client, where);
    await refuseUnlessEmpty(client, had, where);
    const backup = await openBackup(file, signal);
    refuseOtherTables(backup.header);
    const progress = startProgress(terminal, {
      title: 'Restoring',
      total: rowsIn(backup.header),
      unit: 'rows',
    });
    try {
      await insertBackup(client, backup, { kind, signal, onRows: progress.advance });
    } finally {
      progress.end();
    }
  });
  await migrate(pool, { log, migrations, signal });
  return migrations.filter((migration) => !had.includes(migration));
}

interface Outcome {
  readonly file: string;
  readonly where: string;
  readonly since: readonly Migration[];
  readonly isSecretKnown: boolean;
}

function report(header: BackupHeader, outcome: Outcome, { stdout }: Terminal): void {
  const { file, where, since, isSecretKnown } = outcome;
  say(stdout, `Restored ${file} into ${where}, as it was at ${header.createdAt}:`);
  for (const { name, rows } of header.tables) say(stdout, `  ${name.replaceAll('_', ' ')}: ${print(rows)}`);
  if (since.length > 0) say(stdout, `Applied ${since.length} later migrations.`);
  if (!isSecretKnown) {
    say(
      stdout,
      'No master secret is configured here, so the private keys were not checked. The service needs the',
    );
    say(
      stdout,
      'secret that the backup was made with, as SERVICE_SECRET or as the file service-secret in DATA_DIR.',
    );
  }
  say(
    stdout,
    'Changes after that time are lost, including licenses sold since. Revoked API keys, bans and changed',
  );
  say(
    stdout,
    'passwords are as they were at that time: repeat the revocations, bans and changes that you still need.',
  );
}

function warnOfKeys(unreadable: readonly string[], { stderr }: Terminal): void {
  say(
    stderr,
    `WARNING: the master secret cannot decrypt the private keys of these applications: ${listSome(unreadable)}. Their ` +
      'customers get UNAVAILABLE, and their keys cannot be rotated, until you set SERVICE_SECRET_PREVIOUS to the secret ' +
      'that they are encrypted under, or delete the applications. If the oldest or newest of all applications is ' +
      'affected, the service does not start until then.',
  );
}
