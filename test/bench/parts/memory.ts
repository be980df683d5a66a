import { randomBytes } from 'node:crypto';
import { clientPaths } from '../../../src/protocol/constants.ts';
import { runBlock } from '../block.ts';
import { httpRequest } from '../http-message.ts';
import type { Figure, Part, PartContext } from '../part.ts';
import { startFilled } from '../programs.ts';
import { quote, type Scenario } from '../scenario.ts';
import { inTurn } from '../scenarios/validate.ts';
import { createSealedClient } from '../sealed-client.ts';
import type { Seed } from '../seed.ts';
import { withOutput } from '../service.ts';
import { memoryNames } from './memory-names.ts';

/** Requests of the first minute, and memory; then of further minutes, and memory again. */
export const memory: Part = {
  names: Object.values(memoryNames),
  measure: async (context) => {
    const { service, seed } = await startFilled(context, {}, { probed: true });
    const minutes = context.options.memoryMinutes ?? 0;
    context.say(`Driving for ${minutes} minutes, to see what memory does …`);
    const scenario = mixedScenario(seed);
    const drive = async (count: number) => {
      let requests = 0;
      for (let minute = 0; minute < count; minute += 1)
        requests += await driveMinute(scenario, context, service);
      return { requests, memory: await service.memory() };
    };
    const first = await drive(1).catch(withOutput(service));
    const last = await drive(minutes - 1).catch(withOutput(service));
    return {
      measured: [],
      refused: [],
      comparisons: [],
      figures: figuresOf(first.memory, last.memory, last.requests),
    };
  },
};

async function driveMinute(
  scenario: Scenario,
  { options, signal }: PartContext,
  service: Parameters<typeof runBlock>[1]['targets']['service'] & object,
): Promise<number> {
  await scenario.prepare?.(0);
  const { connections } = options;
  const { requests } = await runBlock(scenario, { targets: { service }, connections, seconds: 60, signal });
  return requests;
}

/** Half of the requests name licenses that there are, half keys and devices that nobody has ever heard of. */
function mixedScenario(seed: Seed): Scenario {
  const client = createSealedClient(seed.client);
  const known = inTurn(seed.bound);
  const unknown = () => ({
    licenseKey: randomBytes(15).toString('hex'),
    hwid: randomBytes(8).toString('hex'),
  });
  let turn = 0;
  return {
    name: memoryNames.requests,
    prepare: () => client.refresh(),
    next: () => {
      turn += 1;
      const { body } = client.seal(turn % 2 === 0 ? known() : unknown());
      return httpRequest({ method: 'POST', path: clientPaths.validate, body });
    },
    faultOf: (answer) => (answer.status === 200 ? null : quote(answer)),
    closeFaultOf: () => null,
  };
}

interface Memory {
  readonly heapUsed: number;
  readonly rss: number;
}

const mebibyte = 2 ** 20;

function figuresOf(first: Memory, last: Memory, requests: number): Figure[] {
  const size = (name: string, bytes: number): Figure => ({ name, unit: 'MiB', value: bytes / mebibyte });
  return [
    { name: memoryNames.requests, unit: 'times', value: requests },
    size(memoryNames.heapFirst, first.heapUsed),
    size(memoryNames.heapLast, last.heapUsed),
    size(memoryNames.residentFirst, first.rss),
    size(memoryNames.residentLast, last.rss),
    { name: memoryNames.heapRatio, unit: 'times', value: last.heapUsed / first.heapUsed },
    { name: memoryNames.residentRatio, unit: 'times', value: last.rss / first.rss },
  ];
}
