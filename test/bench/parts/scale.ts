import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { clientPaths } from '../../../src/protocol/constants.ts';
import { validateSuccess } from '../../../src/protocol/messages.ts';
import type { ClientOptions } from '../../../src/sdk/index.ts';
import { drive } from '../drive.ts';
import { numberedLicense } from '../numbered.ts';
import type { Figure, Part, PartContext } from '../part.ts';
import { type FilledService, startBareBeside, startFilled } from '../programs.ts';
import { type Measured, type Refused, sortOut } from '../run.ts';
import { createScaleSeeder, type ScaleSeeder } from '../scale-seed.ts';
import type { Comparison, Scenario, Target } from '../scenario.ts';
import { get, overview, pageOf, scenario } from '../scenarios/dashboard.ts';
import { sealedScenario } from '../scenarios/sealed.ts';
import { scaleNames } from './scale-names.ts';

const sizes = { service: 1_000_000, other: 1_000 } as const;

const comparisons: readonly Comparison[] = [
  { measured: scaleNames.validate, against: scaleNames.bare, of: 'rate', atLeast: 0.45 },
  ...scaleNames.lists.flatMap(({ many, few, atMost }) => [
    { measured: many, against: few, of: 'p50', atMost } as const,
    { measured: many, against: few, of: 'cost', atMost } as const,
  ]),
];

/**
 * A service with a million licenses, users and log entries beside one with a thousand of each, both on databases of
 * the run's own, which are filled by SQL.
 */
export const scale: Part = {
  names: [
    scaleNames.validate,
    scaleNames.bare,
    scaleNames.overview,
    ...scaleNames.lists.flatMap(({ many, few }) => [many, few]),
  ],
  measure: async (context) => {
    const large = await fill(await startFilled(context), sizes.service, context);
    const small = await fill(await startFilled(context), sizes.other, context);
    const { bare, clients } = await startBareBeside(large, context, {
      appId: large.wide.appId,
      numberedLicenses: sizes.service,
    });
    const targets = { service: large.service, other: small.service, bare };
    const run = async (scenarios: readonly Scenario[]) => {
      const { answered, refused } = await sortOut(scenarios.filter(context.isWanted), targets);
      context.say(`Driving ${answered.length} scenarios …`);
      const measured = await drive(answered, targets, large.service, context);
      return { measured, refused };
    };
    const bareClient = {
      ...large.wide,
      baseUrl: clients.bare.baseUrl,
      publicKeyB64: clients.bare.publicKeyB64,
    };
    const found = [
      await run(validateScenarios({ service: large.wide, bare: bareClient })),
      await run([...listScenarios('service', large), ...listScenarios('other', small)]),
      await runOverview(large, context, run),
    ];
    return {
      measured: found.flatMap(({ measured }) => measured),
      refused: found.flatMap(({ refused }) => refused),
      comparisons,
      figures: figuresOf(context),
    };
  },
};

interface WideService extends FilledService {
  /** What programs of the filled application are built with. */
  readonly wide: ClientOptions;
  readonly seeder: ScaleSeeder;
}

const created = z.object({
  sdkHint: z.object({
    baseUrl: z.string(),
    appId: z.string(),
    version: z.string(),
    publicKeyB64: z.string(),
  }),
});

async function fill(filled: FilledService, amount: number, context: PartContext): Promise<WideService> {
  const { sdkHint } = await filled.seed.vendor.post('/api/v1/apps/create', { name: 'Widely sold' }, created);
  const databaseUrl = filled.database.env.DATABASE_URL;
  if (databaseUrl === undefined) throw new Error('The scale needs a database server');
  context.say(`Writing ${amount.toLocaleString('en-US')} licenses, users and log entries …`);
  const seeder = await createScaleSeeder({ ...context, databaseUrl, applicationId: sdkHint.appId });
  context.undo.add(seeder.close);
  await seeder.licensesAndUsers(amount);
  await seeder.log(0, amount);
  await seeder.settle();
  return { ...filled, wide: { ...filled.seed.client, ...sdkHint }, seeder };
}

function validateScenarios(clients: Readonly<Record<'service' | 'bare', ClientOptions>>): Scenario[] {
  const lengths = new Map<string, number>();
  return (['service', 'bare'] as const).map((target) =>
    sealedScenario({
      name: target === 'service' ? scaleNames.validate : scaleNames.bare,
      target,
      client: clients[target],
      path: clientPaths.validate,
      members: () => numberedLicense(randomInt(sizes.service)),
      result: validateSuccess,
      lengths,
    }),
  );
}

/** Pages and searches in the order of `scaleNames.lists`; each search finds the one row of a device. */
function listScenarios(target: Target, { seed, wide }: WideService): Scenario[] {
  const requests = (['licenses', 'users', 'logs'] as const).flatMap((list) => [
    { path: `${list}?limit=50`, shape: pageOf(list, 50), isSearch: false },
    { path: `${list}?q=${numberedLicense(500).hwid}`, shape: pageOf(list, 1), isSearch: true },
  ]);
  const inOrder = [
    ...requests.filter(({ isSearch }) => !isSearch),
    ...requests.filter(({ isSearch }) => isSearch),
  ];
  return inOrder.flatMap(({ path, shape }, place) => {
    const names = scaleNames.lists[place];
    if (names === undefined) return [];
    const name = target === 'service' ? names.many : names.few;
    const request = get(seed.apiKey, `/api/v1/apps/${wide.appId}/${path}`);
    // One at a time: what an answer takes then is the database's work and the service's, without a queue.
    return [scenario(name, request, shape, { target, connections: 1 })];
  });
}

async function runOverview(
  { seed, seeder }: WideService,
  context: PartContext,
  run: (
    scenarios: readonly Scenario[],
  ) => Promise<{ measured: readonly Measured[]; refused: readonly Refused[] }>,
) {
  if (!context.isWanted({ name: scaleNames.overview })) return { measured: [], refused: [] };
  const rows = context.options.scaleLogRows ?? 0;
  context.say(`Writing ${rows.toLocaleString('en-US')} log entries …`);
  await seeder.log(sizes.service, rows);
  await seeder.settle();
  const request = get(seed.apiKey, '/api/v1/metrics/overview');
  return run([scenario(scaleNames.overview, request, overview, { connections: 1 })]);
}

const figuresOf = ({ options }: PartContext): Figure[] => [
  { name: scaleNames.licenses, unit: 'rows', value: sizes.service },
  { name: scaleNames.logRows, unit: 'rows', value: Math.max(options.scaleLogRows ?? 0, sizes.service) },
];
