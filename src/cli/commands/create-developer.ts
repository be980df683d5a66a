import { addAbortSignal } from 'node:stream';
import { password as askHidden, isCancel } from '@clack/prompts';
import type { Command } from 'commander';
import type { z } from 'zod';
import { type DataConfig, loadDataConfig } from '../../config.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { pendingMigrations } from '../../db/migration-history.ts';
import { readMigrations } from '../../db/migrations.ts';
import { systemClock } from '../../lib/clock.ts';
import { openKeyring } from '../../services/application/open-keyring.ts';
import { createDeveloper } from '../../services/auth/create-developer.ts';
import { newDeveloper } from '../../services/auth/fields.ts';
import { adviseOnLock } from '../advise-on-lock.ts';
import { commandLog, connect, describeAddress, keptNowhere } from '../database.ts';
import { CommandError } from '../failure.ts';
import { readAppliedMigrations } from '../history.ts';
import { say, type Terminal } from '../terminal.ts';

interface Options {
  readonly email: string;
  readonly name: string;
  readonly passwordStdin?: boolean;
}

export function addCreateDeveloperCommand(program: Command, terminal: Terminal): void {
  program
    .command('create-developer')
    .description("make a developer's account, also where registration is closed")
    .requiredOption('--email <address>', 'the address to log in with')
    .requiredOption('--name <name>', 'what to call the developer')
    .option(
      '--password-stdin',
      'read the password from standard input, as one line, instead of asking for it',
    )
    .action(async ({ email, name, passwordStdin = false }: Options) => {
      const config = loadDataConfig(terminal.env);
      if (config.database.kind === 'memory') throw keptNowhere();
      // What is wrong with the options is said before anybody types a password.
      check(newDeveloper.omit({ password: true }).safeParse({ email, name }));
      const password = passwordStdin ? await readPassword(terminal) : await askPassword(terminal);
      const input = check(newDeveloper.safeParse({ email, name, password }));
      const database = await open(config, terminal);
      try {
        // An account that nobody has asked for over a network: the log has no address for it.
        const ctx = { env: { database, clock: systemClock }, client: { ip: null, country: null } };
        const developer = await createDeveloper({ ctx, input });
        say(terminal.stdout, `${developer.id} ${developer.email}`);
        say(terminal.stderr, `Made an account in ${describeAddress(config.database)}.`);
      } finally {
        await database.close();
      }
    });
}

/** What was asked for, or everything that is wrong with it, by its option. */
function check<Value>(parsed: z.ZodSafeParseResult<Value>): Value {
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `the ${path.join('.')}: ${message}`);
  throw new CommandError(`The account cannot be made; ${problems.join('; ')}.`);
}

/** One line; the line's end is no part of the password. */
async function readPassword({ stdin, signal }: Terminal): Promise<string> {
  let text = '';
  // Whoever was to send it may never do so, nor close it.
  addAbortSignal(signal, stdin);
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > 4096) break;
  }
  const password = text.replace(/\r?\n$/, '');
  if (password.includes('\n')) {
    throw new CommandError('Standard input has more than one line: send the password alone.');
  }
  return password;
}

async function askPassword(terminal: Terminal): Promise<string> {
  if (terminal.stdin.isTTY !== true) {
    throw new CommandError(
      'There is no terminal to ask for the password at: send it on standard input, with --password-stdin.',
    );
  }
  const first = await ask(terminal, 'Password (12 to 128 characters)');
  check(newDeveloper.pick({ password: true }).safeParse({ password: first }));
  if ((await ask(terminal, 'The same again')) !== first) {
    throw new CommandError('The two passwords are not the same: nothing has been made.');
  }
  return first;
}

async function ask({ stdin, stderr, signal }: Terminal, message: string): Promise<string> {
  // No mask: not even the password's length is shown.
  const answer = await askHidden({ message, mask: '', input: stdin, output: stderr, signal });
  if (isCancel(answer)) throw new CommandError('Cancelled: nothing has been made.');
  return answer;
}

async function open(config: DataConfig, terminal: Terminal): Promise<Database> {
  if (config.database.kind === 'server') await requireCurrent(config, terminal);
  const log = commandLog(terminal);
  const database = await adviseOnLock('make the account', () =>
    openDatabase(config.database, { log, maxConnections: 2 }),
  );
  try {
    // An embedded database has its secret before its first account: without one it would be taken for lost.
    if (config.database.kind === 'embedded') await openKeyring(config, database.pool);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A service may be at work on a server's database, of the version that brought it up to date. */
async function requireCurrent({ database }: DataConfig, terminal: Terminal): Promise<void> {
  const migrations = await readMigrations();
  const { pool, close } = await connect(database, migrations, terminal);
  try {
    const pending = pendingMigrations(migrations, await readAppliedMigrations(pool));
    if (pending.length === 0) return;
    throw new CommandError(
      `${describeAddress(database)} is not up to date: run "latchkey migrate", or start the service, first.`,
    );
  } finally {
    await close();
  }
}
