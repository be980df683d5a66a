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

/** Rounds before anything counts, as code is compiled while it runs: at least and at most so many… */
const warmUpRounds = { least: 2, most: 8 } as const;
/** …and between them until every scenario has used this much CPU time. */
const warmCpuSeconds = 4;

/** Requests to make ahead of a block, as a share of what the block before took. */
const preparedShare = 1.25;
const firstPrepared = 1000;

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
  const expected: number[] = [];
  const runRound = async (round: number, count: (place: number, block: Block) => void) => {
    const order = measured.map((each, place) => ({ ...each, place }));
    for (const { scenario, place } of round % 2 === 0 ? order : order.toReversed()) {
      await scenario.prepare?.(expected[place] ?? firstPrepared);
      const block = await runBlock(scenario, options);
      expected[place] = Math.ceil(block.requests * preparedShare);
      count(place, block);
    }
  };
  const warmth = measured.map(() => 0);
  const isCold = () => warmth.some((cpuSeconds) => cpuSeconds < warmCpuSeconds);
  for (let round = 0; round < warmUpRounds.least || (round < warmUpRounds.most && isCold()); round += 1) {
    await runRound(round, (place, { cpuSeconds }) => {
      warmth[place] = (warmth[place] ?? 0) + cpuSeconds;
    });
  }
  for (let round = 0; round < blocks; round += 1) {
    await runRound(round, (place, block) => measured[place]?.blocks.push(block));
  }
  return measured.map(({ scenario, blocks }) => ({ name: scenario.name, blocks }));
}

/** Asks each scenario once, and looks closely at the answer: a wrong one may be cheap. */
export async function sortOut(scenarios: readonly Scenario[], targets: BlockOptions['targets']) {
  const answered: Scenario[] = [];
  const refused: Refused[] = [];
  for (const scenario of scenarios) {
    const fault = await closeFaultOf(scenario, targets[scenario.target ?? 'service']);
    if (fault === null) answered.push(scenario);
    else refused.push({ name: scenario.name, fault });
  }
  return { answered, refused };
}

async function closeFaultOf(scenario: Scenario, { port }: ServiceProcess): Promise<string | null> {
  await scenario.prepare?.(1);
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
