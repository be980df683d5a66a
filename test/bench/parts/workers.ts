import { drive } from '../drive.ts';
import type { Part, PartContext } from '../part.ts';
import { type FilledService, startFilled } from '../programs.ts';
import { sortOut } from '../run.ts';
import type { Comparison, Scenario } from '../scenario.ts';
import { validateScenario } from '../scenarios/validate.ts';
import { workersNames } from './workers-names.ts';

const comparisons: readonly Comparison[] = [
  { measured: workersNames.two, against: workersNames.one, of: 'throughput', atLeast: 1.8 },
  { measured: workersNames.two, against: workersNames.one, of: 'rate' },
];

/** Two workers against one, each service on a database of its own, in blocks in turn. */
export const workers: Part = {
  names: Object.values(workersNames),
  measure: async (context) => {
    const one = await startFilled(context, { WORKERS: '1' });
    const two = await startFilled(context, { WORKERS: '2' }).catch((error: unknown) =>
      error instanceof Error ? error.message : String(error),
    );
    if (typeof two === 'string') {
      const fault = `not supported: the service could not be started and filled with WORKERS=2\n  ${two.slice(0, 500)}`;
      return { measured: [], refused: [{ name: workersNames.two, fault }], comparisons, figures: [] };
    }
    return compare(one, two, context);
  },
};

async function compare(one: FilledService, two: FilledService, { options, signal, say }: PartContext) {
  const targets = { service: two.service, other: one.service };
  const scenarios: Scenario[] = [
    validateScenario({ name: workersNames.two, seed: two.seed, client: two.seed.client }),
    validateScenario({ name: workersNames.one, target: 'other', seed: one.seed, client: one.seed.client }),
  ];
  const { answered, refused } = await sortOut(scenarios, targets);
  say('Driving one worker and two …');
  const measured = await drive(answered, targets, two.service, { options, signal });
  return { measured, refused, comparisons, figures: [] };
}
