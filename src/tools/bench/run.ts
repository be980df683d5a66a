import { type Block, type BlockOptions, runBlock } from './block.ts';
import { openConnection } from './connection.ts';
import type { Scenario } from './scenario.ts';
import type { ServiceProcess } from './service.ts';

/** A scenario with its blocks, in the order of time: those of one place belong to one round of all scenarios. */
export interface Measured {
  readonly name: string;
  readonly blocks: readonly Block[];
}

/** A scenario that this service does not answer as it should, and what it answers. */
export interface Refused {
  readonly name: string;
  readonly fault: string;
}

/** Rounds before anything counts: the service's code is compiled while it runs. */
const warmUpRounds = 2;

/**
 * Drives the scenarios in rounds of one block each, so that what changes on the machine meanwhile meets all of them.
 * Every second round goes backward: none is always the one that runs after the heaviest.
 * @throws {Error} at the first answer that is not right
 */
export async function runScenarios(
  scenarios: readonly Scenario[],
  { blocks, ...options }: BlockOptions & { readonly blocks: number },
): Promise<Measured[]> {
  const measured = scenarios.map((scenario) => ({ scenario, blocks: [] as Block[] }));
  for (let round = -warmUpRounds; round < blocks; round += 1) {
    for (const { scenario, blocks } of round % 2 === 0 ? measured : measured.toReversed()) {
      const block = await runBlock(scenario, options);
      if (round >= 0) blocks.push(block);
    }
  }
  return measured.map(({ scenario, blocks }) => ({ name: scenario.name, blocks }));
}

/** Asks each scenario once, and looks closely at the answer: a wrong one may be cheap. */
export async function sortOut(scenarios: readonly Scenario[], service: ServiceProcess) {
  const answered: Scenario[] = [];
  const refused: Refused[] = [];
  for (const scenario of scenarios) {
    const fault = await closeFaultOf(scenario, service);
    if (fault === null) answered.push(scenario);
    else refused.push({ name: scenario.name, fault });
  }
  return { answered, refused };
}

async function closeFaultOf(scenario: Scenario, { port }: ServiceProcess): Promise<string | null> {
  const connection = await openConnection(port);
  try {
    const answer = await connection.ask(scenario.next());
    const fault = scenario.faultOf(answer);
    if (fault !== null) return fault;
    const body: unknown = JSON.parse(answer.body.toString());
    return scenario.closeFaultOf(body);
  } finally {
    connection.close();
  }
}
