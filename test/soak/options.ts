import { z } from 'zod';
import { number, readOptions, serverUrls, text } from '../setup/command-line.ts';

/** What a soak is asked to do. */
export interface SoakOptions {
  readonly minutes: number;
  /** Requests a second, over all that goes on. */
  readonly rate: number;
  /** Where the numbers go as JSON, beside the table. */
  readonly jsonFile: string | null;
  /** A PostgreSQL server to make a database on; null: the embedded database. */
  readonly databaseUrl: string | null;
  readonly redisUrl: string | null;
}

export const help = `Usage: npm run soak -- [options]

Keeps a service of its own busy with all that a service does, and holds every answer to what it has to be. Each minute
it says what the service holds; at the end it fails where memory grows, a transaction idles, or an answer was wrong.

  --minutes <n>         how long, 0.1 to 1440 (10)
  --rate <n>            requests a second, 1 to 2000 (100)
  --json <file>         also write the numbers to this file
  --database-url <url>  on a fresh database of this PostgreSQL server, which is dropped afterwards; DATABASE_URL when
                        left out; without either, on the embedded database
  --redis-url <url>     with this Redis; REDIS_URL when left out
  --help                say this
`;

/** @returns null when it asks for help @throws {UsageError} naming what is wrong */
export function parseOptions(args: readonly string[], env: NodeJS.ProcessEnv): SoakOptions | null {
  const values = readOptions(
    args,
    z.object({
      minutes: number(0.1, 1_440).default(10),
      rate: number(1, 2_000).default(100),
      json: text,
      ...serverUrls(env),
    }),
  );
  if (values === null) return null;
  const { minutes, rate, json, 'database-url': databaseUrl, 'redis-url': redisUrl } = values;
  return { minutes, rate, jsonFile: json, databaseUrl, redisUrl };
}
