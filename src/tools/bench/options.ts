import { parseArgs } from 'node:util';
import { z } from 'zod';

/** What a run is asked to do. */
export interface BenchOptions {
  /** How long each block drives its scenario. */
  readonly secondsPerBlock: number;
  /** How many blocks each scenario gets. */
  readonly blocks: number;
  readonly connections: number;
  /** Parts of scenario names, in any case; empty means all. */
  readonly only: readonly string[];
  /** A file to write the report to as JSON. */
  readonly jsonFile: string | null;
  /** A database of the PostgreSQL server to measure on; null means the embedded database. */
  readonly databaseUrl: string | null;
}

/** What the person at the terminal has to mend; said without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const help = `Usage: npm run bench -- [options]

Starts the built service in a process of its own, fills it through its public API, and drives each scenario in turn,
block by block. Reports requests per CPU-second of the service, and how scenarios compare within the run.

  --seconds <n>        seconds a block lasts, 0.1 to 60 (2)
  --blocks <n>         blocks each scenario gets, 1 to 100 (8)
  --connections <n>    connections that ask at once, 1 to 256 (32)
  --only <text>        only scenarios with this in their name, in any case; may stand several times
  --json <file>        also write the report to this file, as JSON
  --database-url <url> measure on a fresh database of this PostgreSQL server, which is dropped afterwards;
                       DATABASE_URL when left out; without either, on the embedded database
  --help               say this
`;

const number = (least: number, most: number, pattern: RegExp) =>
  z
    .string()
    .regex(pattern)
    .transform(Number)
    .refine((value) => value >= least && value <= most);

const fields = {
  seconds: { schema: number(0.1, 60, /^\d+(\.\d+)?$/), must: 'a number from 0.1 to 60' },
  blocks: { schema: number(1, 100, /^\d+$/), must: 'a whole number from 1 to 100' },
  connections: { schema: number(1, 256, /^\d+$/), must: 'a whole number from 1 to 256' },
} as const;

/**
 * Reads the command line.
 * @returns null when it asks for help
 * @throws {UsageError} naming what is wrong
 */
export function parseOptions(args: readonly string[], databaseUrl: string | undefined): BenchOptions | null {
  const values = readArguments(args);
  if (values.help) return null;
  return {
    secondsPerBlock: read('seconds', values.seconds),
    blocks: read('blocks', values.blocks),
    connections: read('connections', values.connections),
    only: values.only,
    jsonFile: values.json ?? null,
    databaseUrl: readDatabaseUrl(values['database-url'] ?? databaseUrl),
  };
}

function readArguments(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seconds: { type: 'string', default: '2' },
        blocks: { type: 'string', default: '8' },
        connections: { type: 'string', default: '32' },
        only: { type: 'string', multiple: true, default: [] },
        json: { type: 'string' },
        'database-url': { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
  }
}

function read(name: keyof typeof fields, text: string): number {
  const { schema, must } = fields[name];
  const parsed = schema.safeParse(text);
  if (!parsed.success) throw new UsageError(`--${name} is "${text}"; it must be ${must}`);
  return parsed.data;
}

function readDatabaseUrl(text: string | undefined): string | null {
  if (text === undefined || text === '') return null;
  if (URL.canParse(text) && ['postgresql:', 'postgres:'].includes(new URL(text).protocol)) return text;
  // It may hold a password, so it is not repeated.
  throw new UsageError('--database-url or DATABASE_URL must be a URL that starts with postgresql://');
}
