import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Command } from 'commander';
import type pg from 'pg';
import { type DataConfig, loadDataConfig } from '../../config.ts';
import { readMigrations } from '../../db/migrations.ts';
import { version } from '../../lib/version.ts';
import { adviseOnLock } from '../advise-on-lock.ts';
import { checkTarget, writeAtomically } from '../backup/atomic-write.ts';
import { type BackupHeader, formatName, formatVersion, rowsIn } from '../backup/format.ts';
import { inSnapshot, surveySnapshot } from '../backup/snapshot.ts';
import { createOutputStream } from '../backup/standard-output.ts';
import { backupBytes } from '../backup/write.ts';
import { type Connections, connect, describeAddress, hasEmbeddedDatabase } from '../database.ts';
import { CommandError } from '../failure.ts';
import { print, startProgress } from '../progress.ts';
import { say, type Terminal } from '../terminal.ts';

export function addBackupCommand(program: Command, terminal: Terminal): void {
  program
    .command('backup')
    .description('write the whole database to one file, for "latchkey restore"')
    .argument('<file>', 'the file to write; "-" for standard output')
    .option('-f, --force', 'replace an existing file')
    .addHelpText(
      'after',
      '\nA PostgreSQL server can be backed up while the service runs. To back up an embedded database, stop the service.\n' +
        'The file contains password hashes and license hashes: protect it like the database. It does not contain the\n' +
        'master secret (SERVICE_SECRET, or the file service-secret in DATA_DIR), which a restored service needs.',
    )
    .action(async (file: string, { force = false }: { force?: boolean }) => {
      const config = loadDataConfig(terminal.env);
      await checkOutput(file, force, terminal);
      const { pool, close, kind } = await open(config, terminal);
      try {
        const header = await inSnapshot(pool, (client) => backUp(client, kind, { file, force }, terminal));
        report(header, file, config, terminal);
      } finally {
        await close();
      }
    });
}

async function checkOutput(file: string, force: boolean, { stdout }: Terminal): Promise<void> {
  if (file !== '-') await checkTarget(file, force);
  else if (stdout.isTTY === true) {
    throw new CommandError('Standard output is a terminal: name a file, or redirect the output to one.');
  }
}

async function open({ database: address }: DataConfig, terminal: Terminal): Promise<Connections> {
  if (address.kind === 'embedded' && !hasEmbeddedDatabase(address.directory)) {
    throw new CommandError(
      `There is no database in ${address.directory}: set DATA_DIR or DATABASE_URL to the service's value.`,
    );
  }
  const migrations = await readMigrations();
  return adviseOnLock('back up', () => connect(address, migrations, terminal));
}

async function backUp(
  client: pg.ClientBase,
  source: BackupHeader['source'],
  { file, force }: { readonly file: string; readonly force: boolean },
  terminal: Terminal,
): Promise<BackupHeader> {
  const survey = await surveySnapshot(client, await readMigrations());
  const header: BackupHeader = {
    format: formatName,
    version: formatVersion,
    service: version,
    source,
    ...survey,
  };
  const { signal, stdout, stderr } = terminal;
  const progress = startProgress(terminal, { title: 'Backing up', total: rowsIn(header), unit: 'rows' });
  const write = (stream: Writable): Promise<void> =>
    pipeline(backupBytes(client, header, progress.advance), createGzip(), stream, { signal });
  const warn = (message: string): void => {
    progress.end();
    say(stderr, message);
  };
  try {
    if (file === '-') await write(createOutputStream(stdout));
    else await writeAtomically({ path: file, force, warn }, write);
  } finally {
    progress.end();
  }
  return header;
}

function report(header: BackupHeader, file: string, config: DataConfig, terminal: Terminal): void {
  const output = file === '-' ? terminal.stderr : terminal.stdout;
  const { database: address, serviceSecret } = config;
  const where = file === '-' ? 'standard output' : file;
  say(output, `Backed up ${describeAddress(address)} to ${where}, as it was at ${header.createdAt}:`);
  for (const { name, rows } of header.tables) say(output, `  ${name.replaceAll('_', ' ')}: ${print(rows)}`);
  const secret =
    address.kind === 'embedded' && serviceSecret === null
      ? `the file service-secret in ${address.directory}`
      : 'the value of SERVICE_SECRET';
  say(
    output,
    `The backup does not contain the master secret: keep ${secret} as well, in another place. Without it, the private`,
  );
  say(output, 'keys of your applications cannot be decrypted.');
}
