import { parseArgs } from 'node:util';
import { UsageError } from '../bench/options.ts';

/** What a run is asked to do. */
export interface TrustOptions {
  readonly isQuick: boolean;
  readonly jsonFile: string | null;
  /** Parts by their names; empty means all. */
  readonly only: readonly string[];
}

export const help = `Usage: npm run trust [-- options]

Runs what takes too long for every day: a hundred kills on each database, faults, fuzzing, a soak and a measurement of
load. Prints one table of what was counted; exits with 1 where anything was lost or answered wrongly, or a test failed.
With TEST_DATABASE_URL and TEST_REDIS_URL also on a PostgreSQL server and Redis.

  --quick          minutes in place of hours
  --only <part>    kills, faults, inputs, soak or load; may stand several times
  --json <file>    also write the numbers to this file
  --help           say this
`;

/** How much is done of each. */
export interface Extent {
  readonly kills: number;
  readonly fuzzRuns: number;
  readonly soakMinutes: number;
  readonly benchArguments: readonly string[];
}

export const extents: Record<'quick' | 'whole', Extent> = {
  quick: {
    kills: 6,
    fuzzRuns: 300,
    soakMinutes: 0.5,
    benchArguments: ['--seconds', '1', '--blocks', '2'],
  },
  whole: { kills: 100, fuzzRuns: 20_000, soakMinutes: 30, benchArguments: [] },
};

/** @returns null when it asks for help @throws {UsageError} naming what is wrong */
export function parseOptions(args: readonly string[]): TrustOptions | null {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        json: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return null;
    return { isQuick: values.quick, only: values.only, jsonFile: values.json ?? null };
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
  }
}
