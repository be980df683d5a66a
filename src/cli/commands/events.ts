import { type Command, InvalidArgumentError } from 'commander';
import { loadDataConfig } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { isId } from '../../lib/ids.ts';
import { pause } from '../../lib/pause.ts';
import { newestEvent } from '../../services/outbox/newest-event.ts';
import { readEvents } from '../../services/outbox/read-events.ts';
import { type EventType, typesOf } from '../../services/outbox/types.ts';
import { CommandError } from '../failure.ts';
import { openAccounts } from '../open-accounts.ts';
import { say, type Terminal } from '../terminal.ts';

interface Options {
  readonly developer: string;
  readonly after?: string;
  readonly types?: readonly EventType[];
  readonly all?: boolean;
}

/** The pause between two looks, in milliseconds. */
const lookEvery = 1_000;
const eventsAtOnce = 100;

export function addEventsCommand(program: Command, terminal: Terminal): void {
  const events = program.command('events').description('read what happened in an account');
  events
    .command('tail')
    .description("print an account's events as lines of JSON, as they come")
    .requiredOption('--developer <address>', 'the email address of the account')
    .option('--after <id>', 'begin after this event', parseId)
    .option(
      '--types <types>',
      'only these types, separated by commas; license.* for all of licenses',
      parseTypes,
    )
    .option('--all', 'begin with the oldest event that is kept')
    .addHelpText(
      'after',
      '\nWithout --after and --all, it begins with the next event. With an embedded database, which only one process can\n' +
        'open, it prints the stored events and ends.',
    )
    .action((options: Options) => tail(terminal, options));
}

function parseId(text: string): string {
  if (isId(text)) return text;
  throw new InvalidArgumentError('It must be the id of an event.');
}

function parseTypes(text: string): readonly EventType[] {
  return text.split(',').flatMap((pattern) => {
    const types = typesOf(pattern.trim());
    if (types.length === 0) throw new InvalidArgumentError(`There are no events of the type ${pattern}.`);
    return types;
  });
}

async function tail(terminal: Terminal, { developer, after, types, all = false }: Options): Promise<void> {
  const config = loadDataConfig(terminal.env);
  const isServer = config.database.kind === 'server';
  const database = await openAccounts(config, 'read the events', terminal);
  try {
    const developerId = await findDeveloper(database, developer);
    const { pool } = database;
    const fromStart = all || !isServer;
    let last = after ?? (fromStart ? null : await newestEvent(pool, developerId));
    while (!terminal.signal.aborted) {
      const page = await readEvents(pool, { developerId, after: last, types, limit: eventsAtOnce });
      if (page === 'expired') {
        throw new CommandError('There is no such event any more: leave --after out, or say --all.');
      }
      for (const event of page.events) say(terminal.stdout, JSON.stringify(event));
      last = page.next;
      if (!page.complete) continue;
      if (!isServer) return;
      await pause(lookEvery, terminal.signal);
    }
  } finally {
    await database.close();
  }
}

async function findDeveloper({ prisma }: Database, email: string): Promise<string> {
  const found = await prisma.developer.findUnique({
    where: { emailNormalized: email.toLowerCase() },
    select: { id: true },
  });
  if (found === null) throw new CommandError(`No account has the email address ${email}.`);
  return found.id;
}
