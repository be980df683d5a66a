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
  /** A Redis server for the service's short-lived state; null means in its process. */
  readonly redisUrl: string | null;
  /** Measure with a million licenses, users and log entries too, and with so many log entries; null: not. */
  readonly scaleLogRows: number | null;
  /** Compare two workers with one. */
  readonly workers: boolean;
  /** Compare memory after so many minutes of requests with that after one; null: not. */
  readonly memoryMinutes: number | null;
}

/** What the person at the terminal has to mend; said without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const help = `Usage: npm run bench -- [options]

Starts the built service in a process of its own, fills it through its public API, and drives each scenario in turn,
block by block, beside a bare program that does the irreducible work alone. Reports requests per CPU-second, latencies,
how scenarios compare within the run, and what of the goals is reached.

  --seconds <n>        seconds a block lasts, 0.1 to 60 (2)
  --blocks <n>         blocks each scenario gets, 1 to 100 (6)
  --connections <n>    connections that ask at once, 1 to 256 (32)
  --only <text>        only scenarios with this in their name, in any case; may stand several times
  --json <file>        also write the report to this file, as JSON
  --database-url <url> measure on a fresh database of this PostgreSQL server, which is dropped afterwards;
                       DATABASE_URL when left out; without either, on the embedded database
  --redis-url <url>    give the service this Redis server; REDIS_URL when left out
  --scale              also with 1,000,000 licenses, users and log entries; needs a PostgreSQL server, and minutes
  --log-rows <n>       log entries for the metrics overview of --scale, 1,000 to 20,000,000 (10,000,000)
  --workers            also two workers against one; needs a PostgreSQL server and Redis
  --memory <minutes>   also memory after so many minutes of requests, 2 to 120, against after one
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
  'log-rows': { schema: number(1000, 20_000_000, /^\d+$/), must: 'a whole number from 1000 to 20000000' },
  memory: { schema: number(2, 120, /^\d+$/), must: 'a whole number of minutes from 2 to 120' },
} as const;

/** What stands for an option that is left out. */
export interface EnvironmentUrls {
  readonly DATABASE_URL?: string | undefined;
  readonly REDIS_URL?: string | undefined;
}

/**
 * Reads the command line.
 * @returns null when it asks for help
 * @throws {UsageError} naming what is wrong
 */
export function parseOptions(args: readonly string[], urls: EnvironmentUrls): BenchOptions | null {
  const values = readArguments(args);
  if (values.help) return null;
  const given = {
    databaseUrl: readUrl('database', values['database-url'] ?? urls.DATABASE_URL),
    redisUrl: readUrl('redis', values['redis-url'] ?? urls.REDIS_URL),
  };
  requireFor('--scale', values.scale, given.databaseUrl !== null, '--database-url');
  requireFor(
    '--workers',
    values.workers,
    given.databaseUrl !== null && given.redisUrl !== null,
    '--database-url and --redis-url',
  );
  const logRows = read('log-rows', values['log-rows']);
  return {
    secondsPerBlock: read('seconds', values.seconds),
    blocks: read('blocks', values.blocks),
    connections: read('connections', values.connections),
    only: values.only,
    jsonFile: values.json ?? null,
    ...given,
    scaleLogRows: values.scale ? logRows : null,
    workers: values.workers,
    memoryMinutes: values.memory === undefined ? null : read('memory', values.memory),
  };
}

function readArguments(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seconds: { type: 'string', default: '2' },
        blocks: { type: 'string', default: '6' },
        connections: { type: 'string', default: '32' },
        only: { type: 'string', multiple: true, default: [] },
        json: { type: 'string' },
        'database-url': { type: 'string' },
        'redis-url': { type: 'string' },
        scale: { type: 'boolean', default: false },
        'log-rows': { type: 'string', default: '10000000' },
        workers: { type: 'boolean', default: false },
        memory: { type: 'string' },
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

const schemes = { database: ['postgresql:', 'postgres:'], redis: ['redis:', 'rediss:'] } as const;

function readUrl(name: keyof typeof schemes, text: string | undefined): string | null {
  if (text === undefined || text === '') return null;
  const [usual] = schemes[name];
  if (URL.canParse(text) && schemes[name].some((scheme) => scheme === new URL(text).protocol)) return text;
  // It may hold a password, so it is not repeated.
  const variable = `${name.toUpperCase()}_URL`;
  throw new UsageError(`--${name}-url or ${variable} must be a URL that starts with ${usual}//`);
}

function requireFor(option: string, isAsked: boolean, isGiven: boolean, needed: string): void {
  if (isAsked && !isGiven) throw new UsageError(`${option} needs ${needed}`);
}
