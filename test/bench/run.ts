import { type Block, type BlockOptions, runBlock, targetOf } from './block.ts';
import { openConnection } from './connection.ts';
import type { Scenario } from './scenario.ts';
import type { MeasuredProcess } from './service.ts';

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
const warmUpRounds = { least: 2, most: 5 } as const;
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
  const warmth = measured.map(() => 0);
  const isCold = (place: number) => (warmth[place] ?? 0) < warmCpuSeconds;
  const runRound = async (round: number, count: (place: number, block: Block) => void, onlyCold = false) => {
    const order = measured.map(({ scenario }, place) => ({ scenario, place }));
    for (const { scenario, place } of round % 2 === 0 ? order : order.toReversed()) {
      if (onlyCold && !isCold(place)) continue;
      await prepare(scenario, expected[place] ?? firstPrepared);
      const block = await runBlock(scenario, options);
      expected[place] = Math.ceil(block.requests * preparedShare);
      count(place, block);
    }
  };
  for (let round = 0; round < warmUpRounds.most; round += 1) {
    const warm = (place: number, { cpuSeconds }: Block) => {
      warmth[place] = (warmth[place] ?? 0) + cpuSeconds;
    };
    await runRound(round, warm, round >= warmUpRounds.least);
  }
  for (let round = 0; round < blocks; round += 1) {
    await runRound(round, (place, block) => measured[place]?.blocks.push(block));
  }
  return measured.map(({ scenario, blocks }) => ({ name: scenario.name, blocks }));
}

async function prepare(scenario: Scenario, requests: number): Promise<void> {
  await scenario.prepare?.(requests);
  await scenario.beside?.scenario.prepare?.(firstPrepared);
}

/** Asks each scenario once, and looks closely at the answer: a wrong one may be cheap. */
export async function sortOut(scenarios: readonly Scenario[], targets: BlockOptions['targets']) {
  const answered: Scenario[] = [];
  const refused: Refused[] = [];
  for (const scenario of scenarios) {
    const target = targetOf(scenario, targets);
    const { beside } = scenario;
    const fault =
      (await closeFaultOf(scenario, target)) ??
      (beside === undefined ? null : await closeFaultOf(beside.scenario, target));
    if (fault === null) answered.push(scenario);
    else refused.push({ name: scenario.name, fault });
  }
  return { answered, refused };
}

async function closeFaultOf(scenario: Scenario, { port }: MeasuredProcess): Promise<string | null> {
  await prepare(scenario, 1);
  const connection = await openConnection(port);
  try {
    const request = scenario.next();
    const answer = await connection.ask(request);
    return scenario.faultOf(answer) ?? scenario.closeFaultOf(answer, request);
  } finally {
    connection.close();
  }
}
