import { clientPaths } from '../../../protocol/constants.ts';
import { validateSuccess } from '../../../protocol/messages.ts';
import { makeAhead } from '../ahead.ts';
import { type HttpAnswer, httpRequest } from '../http-message.ts';
import { type Comparison, quote, type Scenario, type Target } from '../scenario.ts';
import { createSealedClient } from '../sealed-client.ts';
import type { Programs } from './programs.ts';

const names = {
  service: 'client: sealed validate',
  bare: 'bare program: sealed validate',
} as const;

export const validateComparisons: readonly Comparison[] = [
  { measured: names.service, against: names.bare, of: 'rate', atLeast: 0.8 },
  { measured: names.service, against: names.bare, of: 'cost' },
];

/** The question that a program asks at its start, each a fresh one, of several licenses in several sessions. */
export function validateScenarios({ seed, clients }: Programs): Scenario[] {
  const lengths = new Map<Target, number>();
  const scenario = (target: Target): Scenario => {
    const client = createSealedClient(clients[target]);
    let turn = 0;
    const requests = makeAhead(() => {
      const license = seed.bound[turn++ % seed.bound.length];
      return httpRequest({ method: 'POST', path: clientPaths.validate, body: client.seal({ ...license }) });
    });
    return {
      name: names[target],
      target,
      prepare: async (amount) => {
        await client.refresh();
        requests.prepare(amount);
      },
      next: requests.next,
      faultOf: (answer) => lengthFault(answer, lengths.get(target)),
      closeFaultOf: (body) => {
        lengths.set(target, JSON.stringify(body).length);
        return client.faultOf(body, validateSuccess) ?? differenceOf(lengths);
      },
    };
  };
  return [scenario('service'), scenario('bare')];
}

/** Every refusal is of another length than this verdict: its code, its text and its members differ. */
const lengthFault = (answer: HttpAnswer, length: number | undefined): string | null =>
  answer.status === 200 && (length === undefined || answer.body.length === length) ? null : quote(answer);

/** Both must do the same work. */
function differenceOf(lengths: ReadonlyMap<Target, number>): string | null {
  const [service, bare] = [lengths.get('service'), lengths.get('bare')];
  if (service === undefined || bare === undefined || service === bare) return null;
  return `The service answers ${service} bytes and the bare program ${bare}`;
}
