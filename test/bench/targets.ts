import { callFigureNames } from './call-figures.ts';
import { figureNames } from './figures.ts';
import type { Figure } from './part.ts';
import { memoryNames } from './parts/memory-names.ts';
import { scaleNames } from './parts/scale-names.ts';
import { workersNames } from './parts/workers-names.ts';
import type { Ratio, ScenarioReport } from './report.ts';
import type { ComparedFigure } from './scenario.ts';
import { callNames } from './scenarios/calls.ts';
import { loginNames } from './scenarios/login.ts';
import { sessionNames } from './scenarios/session-init.ts';
import { validateNames } from './scenarios/validate.ts';

/** What is to be reached, for people to read: whether it is never makes the command fail. */
export interface Target {
  readonly what: string;
  readonly goal: Goal;
  readonly source: Source;
  /** The database that the goal is for; both when left out. */
  readonly database?: 'embedded' | 'server';
}

export interface Goal {
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** Where the reached value comes from. */
type Source =
  | {
      readonly kind: 'ratio';
      readonly measured: string;
      readonly against: string;
      readonly of: ComparedFigure;
    }
  | { readonly kind: 'figure'; readonly name: string }
  | { readonly kind: 'latency'; readonly name: string; readonly quantile: 'p50' | 'p99' };

export interface TargetReport extends Omit<Target, 'source'> {
  readonly unit: string;
  /** Null when the run did not measure it. */
  readonly reached: number | null;
  readonly isMet: boolean | null;
}

const ratio = (measured: string, against: string, of: ComparedFigure = 'rate') =>
  ({ kind: 'ratio', measured, against, of }) as const;

export const targets: readonly Target[] = [
  {
    what: 'sealed validate, requests a CPU-second, to the bare program, on a PostgreSQL server',
    goal: { atLeast: 0.8 },
    source: ratio(validateNames.service, validateNames.bare),
    database: 'server',
  },
  {
    what: 'sealed validate, to the bare program, on the embedded database',
    goal: { atLeast: 0.75 },
    source: ratio(validateNames.service, validateNames.bare),
    database: 'embedded',
  },
  {
    what: 'every answered validation is in the log',
    goal: { atLeast: 1 },
    source: { kind: 'figure', name: figureNames.logged },
  },
  {
    what: 'session init, to the bare program',
    goal: { atLeast: 0.8 },
    source: ratio(sessionNames.service, sessionNames.bare),
  },
  {
    what: 'call validate, to the bare program',
    goal: { atLeast: 0.55 },
    source: ratio(callNames.service, callNames.bare),
  },
  {
    what: 'call validate, CPU, to the sealed validate of version 1',
    goal: { atMost: 2.6 },
    source: ratio(callNames.service, validateNames.service, 'cost'),
  },
  {
    what: 'a junk call, CPU beyond that of one that is too short, in Ed25519 signatures',
    goal: { atMost: 2.5 },
    source: { kind: 'figure', name: callFigureNames.junkBeyondHttp },
  },
  {
    what: 'validate with 1,000,000 licenses, keys drawn at random, to the bare program',
    goal: { atLeast: 0.45 },
    source: ratio(scaleNames.validate, scaleNames.bare),
  },
  {
    what: 'minting 10,000 keys in one request',
    goal: { atMost: 0.5 },
    source: { kind: 'figure', name: figureNames.mint },
  },
  ...scaleNames.lists.flatMap(({ what, many, few, atMost }) =>
    (['p50', 'cost'] as const).map((of) => ({
      what: `${what}, ${of === 'p50' ? 'latency' : 'CPU'}, 1,000,000 against 1,000`,
      goal: { atMost },
      source: ratio(many, few, of),
    })),
  ),
  {
    what: 'metrics overview with 1,000,000 licenses and 10,000,000 log entries',
    goal: { atMost: 50 },
    source: { kind: 'latency', name: scaleNames.overview, quantile: 'p50' },
  },
  {
    what: 'two workers against one, requests a second',
    goal: { atLeast: 1.8 },
    source: ratio(workersNames.two, workersNames.one, 'throughput'),
  },
  {
    what: 'heap after the last minute against after the first',
    goal: { atMost: 1.1 },
    source: { kind: 'figure', name: memoryNames.heapRatio },
  },
  {
    what: 'memory (RSS) after the last minute against after the first',
    goal: { atMost: 1.1 },
    source: { kind: 'figure', name: memoryNames.residentRatio },
  },
  {
    what: 'validate, p99 while 8 logins run at once',
    goal: { atMost: 25 },
    source: { kind: 'latency', name: loginNames.beside, quantile: 'p99' },
  },
];

/** What a run's results say of each target. */
export interface Results {
  readonly scenarios: readonly ScenarioReport[];
  readonly ratios: readonly Ratio[];
  readonly figures: readonly Figure[];
}

export const targetReports = (database: 'embedded' | 'server', results: Results): TargetReport[] =>
  targets
    .filter((target) => target.database === undefined || target.database === database)
    .map(({ source, ...target }) => {
      const { value, unit } = reached(source, results);
      return { ...target, unit, reached: value, isMet: value === null ? null : isMet(value, target.goal) };
    });

export const isMet = (value: number, { atMost = Infinity, atLeast = -Infinity }: Goal): boolean =>
  value <= atMost && value >= atLeast;

function reached(source: Source, { scenarios, ratios, figures }: Results) {
  switch (source.kind) {
    case 'ratio': {
      const found = ratios.find(
        ({ measured, against, of }) =>
          measured === source.measured && against === source.against && of === source.of,
      );
      return { value: found?.median ?? null, unit: '' };
    }
    case 'figure': {
      const found = figures.find(({ name }) => name === source.name);
      return { value: found?.value ?? null, unit: found?.unit === 's' ? 's' : '' };
    }
    case 'latency': {
      const found = scenarios.find(({ name }) => name === source.name);
      return { value: found?.[`${source.quantile}Milliseconds`] ?? null, unit: 'ms' };
    }
  }
}
