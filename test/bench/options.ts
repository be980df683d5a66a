import { z } from 'zod';
import {
  flag,
  number,
  readOptions,
  serverUrls,
  text,
  texts,
  UsageError,
  wholeNumber,
} from '../setup/command-line.ts';

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

/**
 * Reads the command line.
 * @returns null when it asks for help
 * @throws {UsageError} naming what is wrong
 */
export function parseOptions(args: readonly string[], env: NodeJS.ProcessEnv): BenchOptions | null {
  const values = readOptions(
    args,
    z.object({
      seconds: number(0.1, 60).default(2),
      blocks: wholeNumber(1, 100).default(6),
      connections: wholeNumber(1, 256).default(32),
      only: texts,
      json: text,
      ...serverUrls(env),
      scale: flag,
      'log-rows': wholeNumber(1000, 20_000_000).default(10_000_000),
      workers: flag,
      memory: wholeNumber(2, 120).nullable().default(null),
    }),
  );
  if (values === null) return null;
  const { 'database-url': databaseUrl, 'redis-url': redisUrl } = values;
  if (values.scale && databaseUrl === null) throw new UsageError('--scale needs --database-url');
  if (values.workers && (databaseUrl === null || redisUrl === null))
    throw new UsageError('--workers needs --database-url and --redis-url');
  return {
    secondsPerBlock: values.seconds,
    blocks: values.blocks,
    connections: values.connections,
    only: values.only,
    jsonFile: values.json,
    databaseUrl,
    redisUrl,
    scaleLogRows: values.scale ? values['log-rows'] : null,
    workers: values.workers,
    memoryMinutes: values.memory,
  };
}
