import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from './connection.ts';
import type { Figure } from './part.ts';
import { quote, type Scenario } from './scenario.ts';
import { mintRequest, overview } from './scenarios/dashboard.ts';
import type { Seed } from './seed.ts';
import { median } from './statistics.ts';

export const figureNames = {
  mint: 'mint 10,000 keys in one request',
  logged: 'validations in the log, to those answered',
} as const;

/** The figure of something that was measured several times. */
export const figureOf = (name: string, unit: Figure['unit'], values: readonly number[]): Figure => ({
  name,
  unit,
  value: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
});

const mints = 5;

/** Mints ten thousand keys at a time: how long the whole answer takes. @throws {Error} when it is refused */
export async function timeLargeMint(port: number, { apiKey, mintApplicationId }: Seed): Promise<Figure> {
  const request = mintRequest(apiKey, mintApplicationId, 10_000);
  const connection = await openConnection(port);
  const seconds: number[] = [];
  try {
    for (let turn = 0; turn < mints; turn += 1) {
      const begin = performance.now();
      const answer = await connection.ask(request);
      seconds.push((performance.now() - begin) / 1000);
      if (answer.status !== 201) throw new Error(quote(answer));
    }
  } finally {
    connection.close();
  }
  return figureOf(figureNames.mint, 's', seconds);
}

const landingMilliseconds = 30_000;

/** Counts the service's answered validations, and afterwards what its log has of them: nothing may be missing. */
export async function logCheck({ vendor }: Seed, scenarios: readonly Scenario[]) {
  const logged = async () =>
    (await vendor.get('/api/v1/metrics/overview', overview)).metrics.validations24h.total;
  const before = await logged();
  let answered = 0;
  const counted = (scenario: Scenario): Scenario => {
    if (scenario.isLogged !== true) return scenario;
    return {
      ...scenario,
      faultOf: (answer) => {
        answered += 1;
        return scenario.faultOf(answer);
      },
    };
  };
  return {
    scenarios: scenarios.map(counted),
    figures: async (): Promise<Figure[]> => {
      if (answered === 0) return [];
      const deadline = performance.now() + landingMilliseconds;
      let share = 0;
      do {
        await sleep(300);
        share = ((await logged()) - before) / answered;
      } while (share < 1 && performance.now() < deadline);
      return [{ name: figureNames.logged, unit: 'times', value: share }];
    },
  };
}
