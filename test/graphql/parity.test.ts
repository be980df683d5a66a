import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noLimits } from '../api/support.ts';
import { modulesNamedBy } from '../architecture/imports.ts';
import { type ApiAnswer, failureBody } from '../setup/api-client.ts';
import type { GraphqlAnswer } from '../setup/graphql-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { askGraphql, askRest, kindOfId, routes } from './ask-pair.ts';
import { committed, rootFields } from './documents.ts';
import { createFullAccount, type FullAccount, type Ids, rowsOf, stateBesideUse } from './full-account.ts';
import { clientOperations, graphqlAlone, type Pair, pairs, type Subject } from './pairs.ts';
import { nobodysId, visitor } from './support.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('the table of partners', () => {
  test('has every operation of REST but those of client software, and no other', () => {
    const known = [...pairs.map(({ rest }) => rest), ...clientOperations];
    expect(known.sort()).toEqual([...routes.keys()].sort());
  });

  test('names fields that the schema has', () => {
    for (const { graphql } of pairs) {
      const [typeName = '', fieldName = ''] = graphql.split('.');
      const type = committed.getType(typeName);
      expect(isObjectType(type) && type.getFields()[fieldName], graphql).toBeTruthy();
    }
  });

  test('has every query, mutation and subscription but those that GraphQL alone has', () => {
    const known = new Set([...pairs.map(({ graphql }) => graphql), ...Object.keys(graphqlAlone)]);
    expect([...rootFields.keys()].filter((field) => !known.has(field))).toEqual([]);
    const partners = new Set(pairs.map(({ graphql }) => graphql));
    expect(
      Object.keys(graphqlAlone).filter((field) => partners.has(field) || !rootFields.has(field)),
    ).toEqual([]);
  });
});

describe('both transports', () => {
  /** The modules of services that the files of a folder import. */
  const servicesOf = (folder: string) =>
    new Set(
      readdirSync(join(root, folder))
        .filter((file) => file.endsWith('.ts'))
        .flatMap((file) => namedBy(join(folder, file))),
    );
  const namedBy = (file: string): string[] =>
    modulesNamedBy(read(file))
      .filter((name) => name.startsWith('.'))
      .map((name) => relative(root, join(root, dirname(file), name)))
      .filter((name) => name.startsWith('src/services/'));

  /** Pages of REST and connections read the same lists. */
  const lists: Readonly<Record<string, string>> = {
    'src/services/device/list.ts': 'src/services/device/lists.ts',
    'src/services/end-user/list.ts': 'src/services/end-user/lists.ts',
    'src/services/license/list.ts': 'src/services/license/lists.ts',
    'src/services/policy/list.ts': 'src/services/policy/lists.ts',
    'src/services/security-log/list.ts': 'src/services/security-log/lists.ts',
    'src/services/webhook/list.ts': 'src/services/webhook/lists.ts',
    'src/services/webhook/list-deliveries.ts': 'src/services/webhook/lists.ts',
  };
  /**
   * REST answers these whole and with every column, GraphQL page by page and with the columns that are asked for. That
   * they show the same is held below, under "reads".
   */
  const wholeReads: Readonly<Record<string, string>> = {
    'src/services/account-session/list.ts': 'src/services/account-session/lists.ts',
    'src/services/api-key/list.ts': 'src/services/api-key/lists.ts',
    'src/services/application/get.ts': 'src/services/application/lists.ts',
    'src/services/application/list.ts': 'src/services/application/lists.ts',
    'src/services/ban/list.ts': 'src/services/ban/lists.ts',
    'src/services/license/get.ts': 'src/services/license/lists.ts',
  };

  test('call the same verbs, and read the same lists', () => {
    const graphql = servicesOf('src/graphql/types');
    const rest = servicesOf('src/rest/routes');
    expect(rest.size).toBeGreaterThan(30);
    const partners = { ...lists, ...wholeReads };
    expect([...rest].filter((verb) => !graphql.has(partners[verb] ?? verb))).toEqual([]);
    expect(Object.keys(partners).filter((verb) => !rest.has(verb))).toEqual([]);
    for (const [verb, list] of Object.entries(lists)) expect(namedBy(verb), verb).toContain(list);
  });
});

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
});
afterAll(() => server.close());

/** Every id of something that an answer lists, in order; not of who made an entry of the log. */
const idsIn = (body: unknown) => {
  const text = JSON.stringify(body, (name, value) => (name === 'actor' ? undefined : value));
  return [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id);
};

const sdkHintAnswer = z.object({ sdkHint: z.looseObject({ snippet: z.string() }) });

describe('reads', () => {
  let world: FullAccount;
  beforeAll(async () => {
    world = await createFullAccount(server);
    await world.createApplication({ name: 'A second one' });
  });
  const askBoth = async (pair: Pair) => {
    const body = pair.body?.({ world, ids: world.ids });
    const rest = await askRest(world.client, pair, world.ids, body);
    const graphql = await askGraphql(world.graphql, pair, world.ids, body);
    expect(rest.status, JSON.stringify(rest.body)).toBe(200);
    expect(graphql.errors).toEqual([]);
    return { rest: rest.body, graphql: graphql.data };
  };

  test.each(pairs.filter(({ rest }) => rest.startsWith('list')))(
    '$rest and $graphql show the same things in the same order',
    async (pair) => {
      const { rest, graphql } = await askBoth(pair);
      expect(idsIn(rest).length).toBeGreaterThan(1);
      expect(idsIn(graphql)).toEqual(idsIn(rest));
    },
  );

  const pairOf = (name: string): Pair => {
    const pair = pairs.find(({ rest }) => rest === name);
    if (pair === undefined) throw new Error(`There is no pair of ${name}`);
    return pair;
  };

  test('the developer is the same, field by field', async () => {
    const { rest, graphql } = await askBoth(pairOf('getCurrentDeveloper'));
    expect({ success: true, developer: graphql?.me }).toEqual(rest);
  });

  test('an application is the same, field by field', async () => {
    const { rest, graphql } = await askBoth(pairOf('getApplication'));
    const texts = z.array(z.object({ key: z.string(), text: z.string() }));
    const { application } = z
      .object({ application: z.looseObject({ responseMessages: texts }) })
      .parse(graphql);
    const responseMessages = Object.fromEntries(
      application.responseMessages.map(({ key, text }) => [key, text]),
    );
    expect({ success: true, application: { ...application, responseMessages } }).toEqual(rest);
  });

  test('the values to build into a program are the same, and current', async () => {
    const { id } = world.application;
    const { sdkHint } = sdkHintAnswer.parse((await world.client.get(`/api/v1/apps/${id}/sdk-hint`)).body);
    expect(sdkHint).toMatchObject({ appId: id, version: world.application.version });
    await world.application.settings({ version: '9.9' });
    const { rest, graphql } = await askBoth(pairOf('getSdkHint'));
    const { application } = z.object({ application: z.looseObject({}) }).parse(graphql);
    expect({ success: true, ...application }).toEqual(rest);
    expect(sdkHintAnswer.parse(rest).sdkHint).toEqual({
      ...sdkHint,
      version: '9.9',
      snippet: sdkHint.snippet.replace(JSON.stringify(world.application.version), '"9.9"'),
    });
    await world.application.settings({ version: world.application.version });
  });

  test('a license is the same, field by field', async () => {
    const { rest, graphql } = await askBoth(pairOf('getLicense'));
    const of = z.object({ license: z.looseObject({ application: z.object({ id: z.string() }) }) });
    const { application, ...license } = of.parse(graphql).license;
    expect({ success: true, license: { ...license, applicationId: application.id } }).toEqual(rest);
  });

  test('metrics are the same figures', async () => {
    const { rest, graphql } = await askBoth(pairOf('getMetrics'));
    const counts = z.array(z.object({ code: z.string(), count: z.int() }));
    const read = z.object({
      metrics: z.looseObject({ validations24h: z.object({ total: z.int(), byCode: z.unknown() }) }),
    });
    const ofGraphql = read.parse(graphql).metrics;
    const byCode = counts.parse(ofGraphql.validations24h.byCode).map(({ code, count }) => [code, count]);
    expect(byCode.length).toBeGreaterThan(0);
    expect({
      ...ofGraphql,
      validations24h: { ...ofGraphql.validations24h, byCode: Object.fromEntries(byCode) },
    }).toEqual(read.parse(rest).metrics);
  });

  test('the history of metrics is the same', async () => {
    const { rest, graphql } = await askBoth(pairOf('getMetricsHistory'));
    const history = z.looseObject({ validations: z.array(z.unknown()), activations: z.array(z.unknown()) });
    const ofRest = z.object({ history }).parse(rest).history;
    expect(ofRest.validations.length).toBeGreaterThan(0);
    expect(ofRest.activations).toHaveLength(28);
    expect(graphql).toEqual({ metricsHistory: ofRest });
  });

  test.each(['exportEndUsers', 'exportAccount'])('%s holds the same', async (name) => {
    const { rest, graphql } = await askBoth(pairOf(name));
    const exported = z.record(z.string(), z.unknown());
    const ofRest = z.object({ export: exported }).parse(rest).export;
    const ofGraphql = exported.parse(Object.values(exported.parse(graphql))[0]);
    // An export of an account notes itself in the log: the second holds what the first has noted.
    const log = z.array(z.unknown());
    const [before, after] = [log.parse(ofRest.securityLog), log.parse(ofGraphql.securityLog)];
    expect(after.length - before.length).toBe(name === 'exportAccount' ? 1 : 0);
    expect({
      ...ofGraphql,
      exportedAt: ofRest.exportedAt,
      securityLog: after.slice(after.length - before.length),
    }).toEqual(ofRest);
  });
});

/** A refusal's code, and the places that it names. */
interface Refusal {
  readonly code: string;
  readonly paths: readonly string[];
}
const pathsOf = (issues: readonly { path: readonly (string | number)[] }[] = []) =>
  [...new Set(issues.map(({ path }) => path.join('.')))].sort();

function refusalOfRest({ body }: ApiAnswer): Refusal {
  const { code, issues } = failureBody.parse(body);
  return { code, paths: pathsOf(issues) };
}

function refusalOfGraphql({ errors }: GraphqlAnswer<unknown>): Refusal {
  expect(errors).toHaveLength(1);
  const { code, issues } = z
    .object({ code: z.string(), issues: failureBody.shape.issues })
    .parse(errors[0]?.extensions);
  return { code, paths: pathsOf(issues) };
}

/** GraphQL's names for places in REST's inputs: pages are a connection's, and its lists are no maps. */
const inGraphql = (path: string) =>
  path
    .replace(/^limit$/, 'first')
    .replace(/^cursor$/, 'after')
    .replace(/^responseMessages\.\w+$/, 'responseMessages.0.text');

describe('refusals', () => {
  let world: FullAccount;
  let other: FullAccount;
  beforeAll(async () => {
    world = await createFullAccount(server);
    other = await createFullAccount(server);
  });

  /** All but the log, which notes some refusals. */
  const state = async () => ({ ...(await stateBesideUse(server)), security_log: undefined });

  const inPaths = (pair: Pair) => /\{\w+\}/.test(routes.get(pair.rest)?.path ?? '');
  /** Ids that are wrong one at a time: those that the path names. */
  const wrongIds = (pair: Pair): Partial<Ids>[] => {
    const { path = '' } = routes.get(pair.rest) ?? {};
    const kinds: (keyof Ids)[] = [
      ...(path.includes('{id}') ? [kindOfId(path)] : []),
      ...(path.includes('{userId}') ? ['user'] : []),
      ...(path.includes('{banId}') ? ['ban'] : []),
      ...(path.includes('{deviceId}') ? ['device'] : []),
      ...(path.includes('{policyId}') ? ['policy'] : []),
      ...(path.includes('{deliveryId}') ? ['delivery'] : []),
    ] as (keyof Ids)[];
    return kinds.flatMap((kind) =>
      [nobodysId, other.ids[kind], 'garbage', world.ids[kind].toUpperCase(), 'a\0b'].map((id) => ({
        [kind]: id,
      })),
    );
  };

  test.each(pairs.filter(inPaths))('$rest and $graphql refuse the same ids in the same way', async (pair) => {
    const before = await state();
    for (const wrong of wrongIds(pair)) {
      const ids = { ...world.ids, ...wrong };
      const body = pair.body?.({ world, ids });
      const rest = refusalOfRest(await askRest(world.client, pair, ids, body));
      const graphql = refusalOfGraphql(await askGraphql(world.graphql, pair, ids, body));
      expect(rest.code, JSON.stringify(wrong)).toMatch(/_NOT_FOUND$/);
      expect(graphql, JSON.stringify(wrong)).toEqual(rest);
    }
    expect(await state()).toEqual(before);
  });

  test.each(pairs.filter(({ wrong }) => wrong !== undefined))(
    '$rest and $graphql refuse the same input in the same way, at the same places',
    async (pair) => {
      // A key that exists is one that was stored: of the pair's own good input.
      const before = await state();
      for (const wrong of pair.wrong?.({ world, other }) ?? []) {
        const ids = { ...world.ids, ...wrong.ids };
        const body = wrong.whole ?? { ...pair.body?.({ world, ids }), ...wrong.body };
        const rest = refusalOfRest(await askRest(world.client, pair, ids, body));
        const graphql = refusalOfGraphql(await askGraphql(world.graphql, pair, ids, body));
        const label = JSON.stringify(wrong).slice(0, 200);
        expect(rest.code, label).toBe(wrong.code);
        expect(rest.paths.length > 0, label).toBe(['VALIDATION_FAILED', 'KEY_EXISTS'].includes(wrong.code));
        expect(graphql, label).toEqual({ code: rest.code, paths: rest.paths.map(inGraphql).sort() });
      }
      expect(await state()).toEqual(before);
    },
  );

  test('nobody is refused by both before the input is looked at', async () => {
    for (const pair of pairs.filter(({ graphql }) => !/\.(register|login|logout)$/.test(graphql))) {
      const anyone = visitor(server);
      const [wrong] = pair.wrong?.({ world, other }) ?? [];
      const body = { ...pair.body?.({ world, ids: world.ids }), ...wrong?.body };
      const rest = refusalOfRest(await askRest(anyone.api, pair, world.ids, body));
      expect(rest).toEqual({ code: 'UNAUTHENTICATED', paths: [] });
      expect(refusalOfGraphql(await askGraphql(anyone, pair, world.ids, body)), pair.rest).toEqual(rest);
    }
  });
});

describe('changes', () => {
  test('have the same effect on two equal worlds, log entries among them, one after another', async () => {
    const [byRest, byGraphql] = [await createFullAccount(server), await createFullAccount(server)];
    expect(await worldState(byGraphql)).toEqual(await worldState(byRest));
    let last = await worldState(byRest);
    const still: string[] = [];
    for (const pair of pairs) {
      const of = (world: FullAccount): Subject => ({ world, ids: { ...world.ids, ...pair.about?.(world) } });
      const [one, two] = [of(byRest), of(byGraphql)];
      for (const { developer } of [byRest, byGraphql]) await pair.prepare?.(server, developer.id);
      const rest = await askRest(byRest.client, pair, one.ids, pair.body?.(one));
      const graphql = await askGraphql(byGraphql.graphql, pair, two.ids, pair.body?.(two));
      expect(rest.body, pair.rest).toMatchObject({ success: true });
      expect(graphql.errors, pair.rest).toEqual([]);
      const now = await worldState(byRest);
      expect(await worldState(byGraphql), pair.rest).toEqual(now);
      if (JSON.stringify(now) === JSON.stringify(last)) still.push(pair.rest);
      last = now;
    }
    const changesNothing = pairs
      .map(({ rest }) => rest)
      .filter((rest) => /^(list|get|explain|exportEndUsers|logout|replayWebhook)/.test(rest));
    expect(still).toEqual(changesNothing);
  });

  /** A developer's rows with names for what differs from world to world by chance: ids, addresses, hashes, instants. */
  async function worldState({ developer, mark }: FullAccount): Promise<unknown> {
    const state = await stateBesideUse(server);
    const developers = z.array(z.object({ id: z.string(), email: z.string() })).parse(state.developers);
    const own = developers.filter(({ id, email }) => id === developer.id || email.includes(mark));
    const rows = rowsOf(state, [developer.id, ...own.map(({ id }) => id)]);
    const names = new Map<string, string>();
    const nameOf = (id: string) => {
      const name = names.get(id) ?? `id ${names.size}`;
      names.set(id, name);
      return name;
    };
    return JSON.parse(JSON.stringify(rows), (column, value: unknown) => {
      if (value === null || typeof value === 'object') return value;
      if (/_(at|until)$|_hash$|_since$|_encrypted$|^key_?prefix$|^public_key$/i.test(column)) return 'set';
      if (['session_version', 'totp_last_step'].includes(column)) return 'set';
      // Of a lease, in the log.
      if (['deviceHash', 'expiresAt', 'seq'].includes(column)) return 'set';
      if (typeof value !== 'string') return value;
      return value
        .replaceAll(developer.email, 'the address')
        .replaceAll(mark, 'the mark')
        .replaceAll(/\b10\.\d+\.\d+\.\d+\b/g, 'an address')
        .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, nameOf);
    });
  }
});
