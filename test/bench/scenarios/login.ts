import { clientPaths } from '../../../src/protocol/constants.ts';
import { clientAuthSuccess } from '../../../src/protocol/messages.ts';
import type { Comparison, Scenario } from '../scenario.ts';
import { customerPassword, type Seed } from '../seed.ts';
import type { Programs } from './programs.ts';
import { sealedScenario } from './sealed.ts';
import { inTurn, validateScenario } from './validate.ts';

export const loginNames = {
  service: 'client: login',
  bare: 'bare program: login',
  paced: 'client: validate at a pace',
  beside: 'client: validate at a pace, while 8 logins run at once',
} as const;

export const loginComparisons: readonly Comparison[] = [
  { measured: loginNames.service, against: loginNames.bare, of: 'rate' },
  { measured: loginNames.service, against: loginNames.bare, of: 'mainThreadRate' },
];

const loginsAtOnce = 8;
/** Eight devices that ask up to a hundred times a second each: well below what the service could answer. */
const pace = { connections: 8, pauseMilliseconds: 10 } as const;

/**
 * End users log in. Password hashing is by far the most of it, and runs beside the main thread: the CPU time of that
 * thread is the login apart from Argon2.
 */
export function loginScenarios({ seed, clients }: Programs): Scenario[] {
  const lengths = new Map<string, number>();
  const login = (target: 'service' | 'bare'): Scenario =>
    sealedScenario({
      name: loginNames[target],
      target,
      connections: loginsAtOnce,
      client: clients[target],
      path: clientPaths.login,
      members: inTurn(credentialsOf(seed)),
      result: clientAuthSuccess,
      lengths,
    });
  const paced = (name: string) => validateScenario({ name, ...pace, seed, client: clients.service });
  return [
    login('service'),
    login('bare'),
    paced(loginNames.paced),
    { ...paced(loginNames.beside), beside: { scenario: login('service'), connections: loginsAtOnce } },
  ];
}

const credentialsOf = ({ customers }: Seed) =>
  customers.map(({ username, hwid }) => ({ username, password: customerPassword, hwid }));
