import { z } from 'zod';
import { flag, number, readOptions, text, texts, wholeNumber } from '../setup/command-line.ts';

/** What a run is asked to do. */
export interface TrustOptions {
  readonly extent: Extent;
  readonly jsonFile: string | null;
  /** Parts by their names; empty means all. */
  readonly only: readonly string[];
}

export const help = `Usage: npm run trust [-- options]

Runs what takes too long for every day: a hundred kills on each database, faults, fuzzing, a soak and a measurement of
load. Prints one table of what was counted; exits with 1 where anything was lost or answered wrongly, or a test failed.
With TEST_DATABASE_URL and TEST_REDIS_URL also on a PostgreSQL server and Redis.

  --quick              minutes in place of hours
  --only <part>        kills, faults, parsers, routes, soak or load; may stand several times
  --kills <n>          kills on each database (100; quick 6)
  --fuzz-runs <n>      inputs that each property of a parser is tried with (20,000; quick 300)
  --route-runs <n>     the same of a route, where each input is a request (2,000; quick 100)
  --call-runs <n>      changed requests of protocol version 2, and as many answers (500,000; quick 10,000)
  --soak-minutes <n>   how long the soak lasts on each database (30; quick 0.5)
  --json <file>        also write the numbers to this file
  --help               say this
`;

/** How much is done of each. */
export interface Extent {
  readonly kills: number;
  readonly fuzzRuns: number;
  readonly routeRuns: number;
  /** Changed requests of protocol version 2, and as many changed answers. */
  readonly callRuns: number;
  readonly soakMinutes: number;
  readonly benchArguments: readonly string[];
}

const extents: Record<'quick' | 'whole', Extent> = {
  quick: {
    kills: 6,
    fuzzRuns: 300,
    routeRuns: 100,
    callRuns: 10_000,
    soakMinutes: 0.5,
    benchArguments: ['--seconds', '1', '--blocks', '2'],
  },
  whole: {
    kills: 100,
    fuzzRuns: 20_000,
    routeRuns: 2_000,
    callRuns: 500_000,
    soakMinutes: 30,
    benchArguments: [],
  },
};

/** @returns null when it asks for help @throws {UsageError} naming what is wrong */
export function parseOptions(args: readonly string[]): TrustOptions | null {
  const values = readOptions(
    args,
    z.object({
      quick: flag,
      only: texts,
      kills: anyAmount,
      'fuzz-runs': anyAmount,
      'route-runs': anyAmount,
      'call-runs': anyAmount,
      'soak-minutes': number(0.1, 1_440).optional(),
      json: text,
    }),
  );
  if (values === null) return null;
  const usual = extents[values.quick ? 'quick' : 'whole'];
  return {
    extent: {
      ...usual,
      kills: values.kills ?? usual.kills,
      fuzzRuns: values['fuzz-runs'] ?? usual.fuzzRuns,
      routeRuns: values['route-runs'] ?? usual.routeRuns,
      callRuns: values['call-runs'] ?? usual.callRuns,
      soakMinutes: values['soak-minutes'] ?? usual.soakMinutes,
    },
    only: values.only,
    jsonFile: values.json,
  };
}

const anyAmount = wholeNumber(1, Number.POSITIVE_INFINITY).optional();
