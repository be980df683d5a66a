import { clientPaths } from '../../../src/protocol/constants.ts';
import { validateSuccess } from '../../../src/protocol/messages.ts';
import type { ClientOptions } from '../../../src/sdk/index.ts';
import type { Comparison, Scenario } from '../scenario.ts';
import type { Seed } from '../seed.ts';
import type { Programs } from './programs.ts';
import { type SealedScenario, sealedScenario } from './sealed.ts';

export const validateNames = {
  service: 'client: sealed validate',
  bare: 'bare program: sealed validate',
} as const;

export const validateComparisons: readonly Comparison[] = [
  { measured: validateNames.service, against: validateNames.bare, of: 'rate' },
  { measured: validateNames.service, against: validateNames.bare, of: 'cost' },
];

/** The question that a program asks at its start, each a fresh one, of several licenses in several sessions. */
export function validateScenarios({ seed, clients }: Programs): Scenario[] {
  const lengths = new Map<string, number>();
  const { service, bare } = validateNames;
  return [
    validateScenario({ name: service, seed, client: clients.service, lengths }),
    validateScenario({ name: bare, target: 'bare', seed, client: clients.bare, lengths }),
  ];
}

export interface ValidateScenario
  extends Pick<SealedScenario, 'name' | 'target' | 'connections' | 'pauseMilliseconds'> {
  readonly seed: Pick<Seed, 'bound'>;
  readonly client: ClientOptions;
  readonly lengths?: Map<string, number>;
}

/** Asks about one license after the other, each on its device. */
export const validateScenario = ({ seed, lengths = new Map(), ...scenario }: ValidateScenario): Scenario =>
  sealedScenario({
    ...scenario,
    path: clientPaths.validate,
    members: inTurn(seed.bound),
    result: validateSuccess,
    lengths,
  });

/** One after the other, from the start again after the last. @throws {Error} when there is none */
export function inTurn<Item extends object>(items: readonly Item[]) {
  let turn = 0;
  return (): { readonly [Name in keyof Item]: Item[Name] } => {
    const item = items[turn++ % items.length];
    if (item === undefined) throw new Error('There is nothing to ask about');
    return { ...item };
  };
}
