import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** What the programs of a part have counted themselves; nothing here is known beforehand. */
export interface Finding {
  readonly what: string;
  readonly value: string;
  /** What must not be: something was lost, wrong, or failed. */
  readonly isBad: boolean;
}

const tallied = z.object({
  counted: z.record(z.string(), z.number()),
  most: z.record(z.string(), z.number()),
});

/** What tests have written by test/setup/tally.ts. */
export interface Tally {
  readonly counted: ReadonlyMap<string, number>;
  readonly most: ReadonlyMap<string, number>;
}

/** Sums up a file of tallies; one that is not there has none. */
export function readTally(file: string): Tally {
  const counted = new Map<string, number>();
  const most = new Map<string, number>();
  for (const line of textOf(file).split('\n').filter(Boolean)) {
    const entry = tallied.parse(JSON.parse(line));
    for (const [name, count] of Object.entries(entry.counted))
      counted.set(name, (counted.get(name) ?? 0) + count);
    for (const [name, value] of Object.entries(entry.most))
      most.set(name, Math.max(most.get(name) ?? 0, value));
  }
  return { counted, most };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const names: readonly (readonly [string, string, boolean])[] = [
  ['kills', 'kill -9 at random moments under load', false],
  ['faults', 'other faults survived', false],
  ['acknowledged', 'writes acknowledged meanwhile', false],
  ['lost', 'of these lost or half done', true],
  ['inputs', 'bad inputs tried', false],
];

/** What is promised: to be ready again so many milliseconds after a kill. No test fails of it, as a machine may be busy. */
const longestRecovery = 5_000;

/** The lines that a tally gives. */
export function findingsOf({ counted, most }: Tally): Finding[] {
  return [
    ...names.flatMap(([name, what, mustBeNone]) => {
      const count = counted.get(name);
      return count === undefined ? [] : [{ what, value: number(count), isBad: mustBeNone && count > 0 }];
    }),
    ...[...most].map(([what, value]) => ({
      what: `longest ${what}`,
      value: number(value),
      isBad: what.startsWith('recovery') && value > longestRecovery,
    })),
  ];
}

export const number = (value: number): string => Math.round(value).toLocaleString('en-US');
