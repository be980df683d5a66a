import type { Command } from 'commander';
import { type DataConfig, loadDataConfig } from '../../config.ts';
import { createKeyring, type Keyring } from '../../crypto/keyring.ts';
import { ensureLogPartitions } from '../../db/log-partitions.ts';
import { migrate, whileNobodyMigrates } from '../../db/migrate.ts';
import { type Migration, readMigrations } from '../../db/migrations.ts';
import { findMasterSecrets } from '../../services/application/open-keyring.ts';
import { type BackupHeader, rowsIn } from '../backup/format.ts';
import { openBackup } from '../backup/read.ts';
import { type Connections, commandLog, connect, describeAddress } from '../database.ts';
import { CommandError } from '../failure.ts';
import { print, startProgress } from '../progress.ts';
import { insertBackup } from '../restore/insert.ts';
import { type Inspection, inspectBackup, nameSome } from '../restore/inspect.ts';
import { migrationsOf, refuseIfServed, refuseOtherTables, refuseUnlessEmpty } from '../restore/target.ts';
import { say, type Terminal } from '../terminal.ts';

export function addRestoreCommand(program: Command, terminal: Terminal): void {
  program
    .command('restore')
    .description('put a backup into an empty database, embedded or on a server')
    .argument('<file>', 'what "latchkey backup" wrote')
    .option(
      '--allow-unreadable-keys',
      "restore applications too whose private keys the master secret does not open, where it opens others'",
    )
    .addHelpText(
      'after',
      '\nThe service must not run meanwhile, and nobody else be connected to the database. Everything is restored or\n' +
        'nothing: a database that was given half of a backup does not come to be. With the master secret at hand\n' +
        '(SERVICE_SECRET, or service-secret in DATA_DIR) the backup is only restored if it is its own.',
    )
    .action(async (file: string, { allowUnreadableKeys = false }: { allowUnreadableKeys?: boolean }) => {
      if (file === '-') {
        throw new CommandError(
          'A restore reads its file twice, which standard input cannot be: write it to a file first, and name that.',
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
        const since = await restore(connections, { file, had, migrations, where, inspection }, terminal);
        report(header, { file, where, since, isSecretKnown: keyring !== null }, terminal);
        if (inspection.unreadable.length > 0) warnOfKeys(inspection.unreadable, terminal);
      } finally {
        await connections.close();
      }
    });
}

/** Null where the operator has not said which the secret is: it is not needed to restore. */
function readKeyring(config: DataConfig): Keyring | null {
  if (config.serviceSecret === null && config.database.kind !== 'embedded') return null;
  const secrets = findMasterSecrets(config);
  return secrets === null ? null : createKeyring(secrets.current, secrets.previous);
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
}

/** @returns the migrations that came after the backup, which have been applied as well */
async function restore(
  { pool, kind }: Connections,
  { file, had, migrations, where, inspection }: Restoration,
  terminal: Terminal,
): Promise<readonly Migration[]> {
  const { signal } = terminal;
  const log = commandLog(terminal);
  await refuseUnlessEmpty(pool, had, where);
  await migrate(pool, { log, migrations: had, signal });
  // Else older entries would lie in the partition for what has no other, and be deleted one by one.
  for (const week of inspection.logWeeks) await ensureLogPartitions(pool, new Date(week));
  await ensureLogPartitions(pool, new Date());

  await whileNobodyMigrates(pool, { log, signal }, async (client) => {
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
  if (since.length > 0) say(stdout, `and brought it up to date: ${since.length} migrations.`);
  if (!isSecretKnown) {
    say(
      stdout,
      'The master secret is not known here, so that it was not tried: the service needs the one that the',
    );
    say(stdout, 'backup was made with, as SERVICE_SECRET or as the file service-secret in DATA_DIR.');
  }
  say(
    stdout,
    'What was made after that moment is gone, keys that were sold since with it; what was undone after it (a',
  );
  say(stdout, 'revoked API key, a ban, a changed password) is as it was. Undo again what must not be.');
}

function warnOfKeys(unreadable: readonly string[], { stderr }: Terminal): void {
  say(
    stderr,
    `WARNING: the master secret does not open the private keys of these applications: ${nameSome(unreadable)}. Their ` +
      'customers are refused with UNAVAILABLE, and their keys cannot be rotated, until the secret that they are ' +
      'encrypted under is given as SERVICE_SECRET_PREVIOUS, or they are deleted. Where the oldest or the newest of all ' +
      'applications is among them, the service does not start until then.',
  );
}
