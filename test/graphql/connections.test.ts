import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { GraphqlClient } from '../setup/graphql-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { logStatements } from '../setup/statements.ts';
import { forFile, useServer } from '../setup/use-world.ts';
import { ApplicationsDocument, LicensesDocument, type LicensesQueryVariables } from './generated/graphql.ts';
import {
  createGraphqlWorld,
  expectIssues,
  illFormedTexts,
  nobodysId,
  noLimits,
  payloadOf,
} from './support.ts';

const server = useServer({ env: noLimits });
const world = forFile(() => createGraphqlWorld(server));

async function list(client: GraphqlClient, variables: LicensesQueryVariables) {
  const answer = await client.request(LicensesDocument, variables);
  const { licenses } = payloadOf(answer, 'application');
  return { ...licenses, ids: licenses.edges.map(({ node }) => node.id) };
}

const restPage = z.object({
  licenses: z.array(z.object({ id: z.string() })),
  nextCursor: z.string().nullable(),
});

/** What REST lists of the same application. */
async function restList(applicationId: string, query: Record<string, string>) {
  const search = new URLSearchParams(query);
  const answer = await world.client.get(`/api/v1/apps/${applicationId}/licenses?${search}`);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const page = restPage.parse(answer.body);
  return { ids: page.licenses.map(({ id }) => id), nextCursor: page.nextCursor };
}

/** An application with so many licenses, newest first. */
async function seed(amount: number) {
  const application = await world.createApplication();
  const minted = amount === 0 ? [] : await application.mint({ amount });
  return { applicationId: application.id, application, ids: minted.map(({ id }) => id).reverse() };
}

describe('pages of licenses', () => {
  test('go forward from newest to oldest', async () => {
    const { applicationId, ids } = await seed(7);
    const seen: string[] = [];
    let after: string | null = null;
    for (const [size, more] of [
      [3, true],
      [3, true],
      [3, false],
    ] as const) {
      const page: Awaited<ReturnType<typeof list>> = await list(world.graphql, {
        applicationId,
        first: size,
        after,
      });
      expect(page.pageInfo).toEqual({
        hasNextPage: more,
        hasPreviousPage: after !== null,
        startCursor: page.edges[0]?.cursor,
        endCursor: page.edges.at(-1)?.cursor,
      });
      expect(page.totalCount).toBe(7);
      seen.push(...page.ids);
      after = page.pageInfo.endCursor;
    }
    expect(seen).toEqual(ids);
  });

  test('go backward from oldest to newest, each page newest first', async () => {
    const { applicationId, ids } = await seed(7);
    let seen: string[] = [];
    let before: string | null = null;
    for (const [size, more] of [
      [3, true],
      [3, true],
      [3, false],
    ] as const) {
      const page: Awaited<ReturnType<typeof list>> = await list(world.graphql, {
        applicationId,
        last: size,
        before,
      });
      expect(page.pageInfo).toMatchObject({ hasNextPage: before !== null, hasPreviousPage: more });
      seen = [...page.ids, ...seen];
      before = page.pageInfo.startCursor;
    }
    expect(seen).toEqual(ids);
  });

  test('end exactly at the end of the list', async () => {
    const { applicationId, ids } = await seed(4);
    const first = await list(world.graphql, { applicationId, first: 4 });
    expect(first).toMatchObject({ ids, pageInfo: { hasNextPage: false, hasPreviousPage: false } });
    const last = await list(world.graphql, { applicationId, last: 4 });
    expect(last).toMatchObject({ ids, pageInfo: { hasNextPage: false, hasPreviousPage: false } });
    const beyond = await list(world.graphql, { applicationId, first: 4, after: first.pageInfo.endCursor });
    expect(beyond).toMatchObject({
      ids: [],
      totalCount: 4,
      pageInfo: { hasNextPage: false, startCursor: null, endCursor: null },
    });
  });

  test('of an application without licenses are empty', async () => {
    const { applicationId } = await seed(0);
    expect(await list(world.graphql, { applicationId })).toMatchObject({
      ids: [],
      totalCount: 0,
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });

  test('have 50 items by default, and at most 200', async () => {
    const { applicationId, ids } = await seed(205);
    expect((await list(world.graphql, { applicationId })).ids).toEqual(ids.slice(0, 50));
    const before = (await list(world.graphql, { applicationId, last: 1 })).pageInfo.startCursor;
    expect((await list(world.graphql, { applicationId, before })).ids).toEqual(ids.slice(154, 204));
    const most = await list(world.graphql, { applicationId, first: 200 });
    expect(most).toMatchObject({ ids: ids.slice(0, 200), totalCount: 205, pageInfo: { hasNextPage: true } });
    expect((await list(world.graphql, { applicationId, last: 200 })).ids).toEqual(ids.slice(5));
  });

  test('are stable while licenses are added', async () => {
    const { applicationId, application, ids } = await seed(6);
    const first = await list(world.graphql, { applicationId, first: 3 });
    const added = await application.mint({ amount: 4 });
    const second = await list(world.graphql, { applicationId, first: 3, after: first.pageInfo.endCursor });
    expect([...first.ids, ...second.ids]).toEqual(ids);
    expect(second).toMatchObject({ totalCount: 10, pageInfo: { hasNextPage: false } });
    const newer = await list(world.graphql, { applicationId, last: 10, before: first.pageInfo.startCursor });
    expect(newer.ids).toEqual(added.map(({ id }) => id).reverse());
  });

  test('continue after a deleted license', async () => {
    const { applicationId, ids } = await seed(4);
    const first = await list(world.graphql, { applicationId, first: 2 });
    await server.deps.services.database.prisma.license.delete({ where: { id: ids[1] ?? '' } });
    const second = await list(world.graphql, { applicationId, first: 2, after: first.pageInfo.endCursor });
    expect(second.ids).toEqual(ids.slice(2));
  });

  test('share cursors with REST', async () => {
    const { applicationId, ids } = await seed(4);
    const rest = await restList(applicationId, { limit: '2' });
    const after = await list(world.graphql, { applicationId, after: rest.nextCursor });
    expect(after.ids).toEqual(ids.slice(2));
    const { pageInfo } = await list(world.graphql, { applicationId, first: 1 });
    expect((await restList(applicationId, { cursor: pageInfo.endCursor ?? '' })).ids).toEqual(ids.slice(1));
  });

  test('treat the cursor of another developer’s license like a missing one', async () => {
    const { applicationId } = await seed(2);
    const other = await createGraphqlWorld(server);
    const { id: foreignId } = await other.createApplication();
    const foreign = await other.graphql.request(LicensesDocument, { applicationId: foreignId });
    expect(payloadOf(foreign, 'application').licenses.edges).toEqual([]);
    const foreignLicense = await (await other.createApplication()).mintOne();
    // Both are newer than every license here, so that they differ in nothing but whether they exist.
    const [existing, missing] = [foreignLicense.id, `f${foreignLicense.id.slice(1)}`];
    const [one, two] = await Promise.all(
      [existing, missing].map((id) => list(world.graphql, { applicationId, after: cursorOf(id) })),
    );
    expect(one).toEqual(two);
    expect(one?.ids).toHaveLength(2);
  });
});

const cursorOf = (id: string) => Buffer.from(`after:${id}`).toString('base64url');

describe('refused pages', () => {
  const cursor = cursorOf(nobodysId);
  test.each<[string, Omit<LicensesQueryVariables, 'applicationId'>, string[]]>([
    ['first below 1', { first: 0 }, ['first']],
    ['a negative first', { first: -1 }, ['first']],
    ['first above 200', { first: 201 }, ['first']],
    ['the largest first', { first: 2_147_483_647 }, ['first']],
    ['last below 1', { last: 0 }, ['last']],
    ['a negative last', { last: -2_147_483_648 }, ['last']],
    ['last above 200', { last: 201 }, ['last']],
    ['first and last together', { first: 2, last: 2 }, ['last']],
    ['after with last', { after: cursor, last: 2 }, ['last']],
    ['first with before', { before: cursor, first: 2 }, ['before']],
    ['after with before', { before: cursor, after: cursor }, ['before']],
    ['an empty cursor', { after: '' }, ['after']],
    ['a cursor of garbage', { after: 'garbage' }, ['after']],
    ['a cursor of an id that is none', { before: cursorOf('no-uuid') }, ['before']],
    ['a bare id', { after: nobodysId }, ['after']],
    ['a cursor with more at its end', { after: `${cursor}AA` }, ['after']],
    ['a cursor in upper case', { after: cursorOf(nobodysId.toUpperCase()) }, ['after']],
    ['a cursor of ten thousand characters', { after: 'a'.repeat(10_000) }, ['after']],
    ['a cursor as Prisma makes them', { after: Buffer.from('GPC:S:a').toString('base64') }, ['after']],
    ['NUL in a cursor', { after: '\0' }, ['after']],
    ['a search of 201 characters', { q: 'a'.repeat(201) }, ['q']],
    ...illFormedTexts.map(([what, q]): [string, { q: string }, string[]] => [
      `${what} in the search`,
      { q },
      ['q'],
    ]),
  ])('%s', async (_what, variables, path) => {
    const { applicationId } = await seed(0);
    const answer = await world.graphql.request(LicensesDocument, { applicationId, ...variables });
    expectIssues(answer, [path]);
    expect(answer.data).toEqual({ application: null });
  });

  test('of applications too', async () => {
    expectIssues(await world.graphql.request(ApplicationsDocument, { first: 201 }), [['first']]);
    expectIssues(await world.graphql.request(ApplicationsDocument, { after: 'garbage' }), [['after']]);
  });
});

describe('searching', () => {
  const notes = [
    'Alpha 100% sure',
    'beta_two',
    'back\\slash',
    'ALPHA again',
    'Äpfel',
    'quote \' " ;--',
    'Beta-two',
  ];

  test('finds the same as REST, and counts it', async () => {
    const application = await world.createApplication();
    for (const note of notes) await application.mint({ amount: 1, note });
    const [used] = await application.mint({ amount: 1 });
    const session = await openSession(server, application);
    await session.ask(validatePath, { licenseKey: used?.licenseKey, hwid: 'DEVICE_%9' });
    await server.deps.services.securityLog.flush();
    const key = used?.licenseKey ?? '';
    const found: Record<string, number> = {};
    const searches = [
      ...[
        'alpha',
        'ALPHA',
        '%',
        '_',
        '\\',
        'beta_',
        'beta-',
        'a%s',
        "'",
        '"',
        ';--',
        'äpfel',
        'apfel',
        '\\%',
      ],
      ...[key, key.toLowerCase(), key.slice(0, -1), 'device_%9', 'device', session.client.ip, '', 'nothing'],
    ];
    for (const q of searches) {
      const [graphql, rest] = await Promise.all([
        list(world.graphql, { applicationId: application.id, q }),
        restList(application.id, { q }),
      ]);
      expect(graphql.ids, q).toEqual(rest.ids);
      expect(graphql.totalCount, q).toBe(rest.ids.length);
      found[q] = graphql.totalCount;
    }
    expect(found).toMatchObject({ alpha: 2, ALPHA: 2, '%': 2, _: 2, '\\': 1, beta_: 1, 'a%s': 0, '\\%': 0 });
    expect(found).toMatchObject({ [key]: 1, [key.slice(0, -1)]: 0, 'device_%9': 1, '': 8, nothing: 0 });
    expect(found).toMatchObject({ [session.client.ip]: 1, "'": 1, ';--': 1, äpfel: 1, apfel: 0 });
  });

  test('pages through the results', async () => {
    const { application, applicationId } = await seed(3);
    const wanted = await application.mint({ amount: 5, note: 'wanted' });
    await application.mint({ amount: 3 });
    const ids = wanted.map(({ id }) => id).reverse();
    const first = await list(world.graphql, { applicationId, q: 'wanted', first: 3 });
    expect(first).toMatchObject({ ids: ids.slice(0, 3), totalCount: 5, pageInfo: { hasNextPage: true } });
    const { endCursor } = first.pageInfo;
    const second = await list(world.graphql, { applicationId, q: 'wanted', first: 3, after: endCursor });
    expect(second).toMatchObject({ ids: ids.slice(3), totalCount: 5, pageInfo: { hasNextPage: false } });
    const last = await list(world.graphql, { applicationId, q: 'wanted', last: 2 });
    expect(last).toMatchObject({ ids: ids.slice(3), pageInfo: { hasPreviousPage: true } });
  });

  test('treats null as no search', async () => {
    const { applicationId, ids } = await seed(2);
    const nulls = { q: null, first: null, after: null, last: null, before: null };
    expect((await list(world.graphql, { applicationId, ...nulls })).ids).toEqual(ids);
  });
});

describe('pages of applications', () => {
  test('are newest first, and stable while applications are added and deleted', async () => {
    const { graphql, createApplication, client } = await createGraphqlWorld(server);
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.unshift((await createApplication()).id);
    const read = async (variables: { first: number; after?: string | null }) =>
      payloadOf(await graphql.request(ApplicationsDocument, variables), 'me').applications;
    const first = await read({ first: 2 });
    expect(first).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true } });
    await createApplication();
    await client.delete(`/api/v1/apps/${ids[1]}`);
    const second = await read({ first: 5, after: first.pageInfo.endCursor });
    expect(second).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: false } });
    expect([...first.edges, ...second.edges].map(({ node }) => node.id)).toEqual(ids);
  });
});

describe('statements', () => {
  const nested = `query ($first: Int, $inner: Int) {
    me { applications(first: $first) { totalCount pageInfo { hasNextPage } edges { node {
      name
      licenses(first: $inner, q: "") { totalCount pageInfo { endCursor } edges { node {
        keyPrefix status application { name licenses(first: 1) { totalCount edges { node { id } } } }
      } } }
    } } } }
  }`;

  test('do not increase with the page: 50 licenses need as many as 5', async () => {
    const { applicationId } = await seed(60);
    const log = logStatements(server.deps.services.database.pool);
    const counts: number[] = [];
    for (const first of [5, 5, 50]) {
      log.take();
      expect((await list(world.graphql, { applicationId, first })).ids).toHaveLength(first);
      counts.push(log.take().length);
    }
    expect(counts[2]).toBe(counts[1]);
    expect(counts[2]).toBeGreaterThan(0);
  });

  test('do not increase with parents: the licenses of 50 applications need as many as those of 5', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const applications = await Promise.all(Array.from({ length: 50 }, () => createApplication()));
    await Promise.all(applications.map((application) => application.mint({ amount: 6 })));
    const log = logStatements(server.deps.services.database.pool);
    const counts: number[] = [];
    for (const [first, inner] of [
      [5, 5],
      [5, 5],
      [5, 5],
      [50, 1],
      [50, 5],
    ] as const) {
      log.take();
      const answer = await graphql.ask(nested, { first, inner });
      expect(answer.errors).toEqual([]);
      expect(JSON.stringify(answer.data).match(/"keyPrefix"/g)).toHaveLength(first * inner);
      expect(JSON.stringify(answer.data).match(/"totalCount":6/g)).toHaveLength(first + first * inner);
      counts.push(log.take().length);
    }
    expect(new Set(counts), counts.join()).toEqual(new Set([counts[0]]));
    expect(counts[0]).toBeLessThan(12);
  });

  test('read no more licenses than requested, and none for a count', async () => {
    const { applicationId } = await seed(5);
    const log = logStatements(server.deps.services.database.pool);
    const countOnly = 'query ($id: ID!) { application(id: $id) { licenses { totalCount } } }';
    await world.graphql.ask(countOnly, { id: applicationId });
    log.take();
    const answer = await world.graphql.ask(countOnly, { id: applicationId });
    expect(answer.data).toEqual({ application: { licenses: { totalCount: 5 } } });
    expect(log.take().filter((sql) => /FROM .*licenses/s.test(sql))).toEqual([
      expect.stringMatching(/count\(\*\)/i),
    ]);
  });

  test('do not increase for the largest pages', { tags: 'slow' }, async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const applications = await Promise.all(Array.from({ length: 170 }, () => createApplication()));
    // One after the other: who waits too long for a connection is refused.
    for (const application of applications) await application.mint({ amount: 98 });
    const answer = await graphql.ask(
      '{ me { applications(first: 200) { edges { node { licenses(first: 98) { edges { node { id } } } } } } } }',
    );
    expect(answer.errors).toEqual([]);
    expect(JSON.stringify(answer.data).match(/"id"/g)).toHaveLength(16_660);
  });
});

describe('what is selected of a list', () => {
  test('is read completely, wherever in the document it is selected', async () => {
    const application = await world.createApplication();
    const { id } = await application.mintOne({ note: 'for Bob' });
    const answer = await world.graphql.ask(
      `query ($id: ID!, $yes: Boolean!, $no: Boolean!) { application(id: $id) { licenses {
        edges { cursor same: node { keyPrefix } }
        edges { node { noteCiphertextB64 } same: node { note } }
        renamed: edges { node { id } }
        again: edges { other: node { hwid noteCiphertextB64 } }
        ...More
        ... on LicenseConnection { totalCount edges { late: node { application { name } } } }
      } log: securityLog { renamed: edges { other: node { metadata @include(if: $yes) event @skip(if: $no) } } } } }
      fragment More on LicenseConnection { edges { node { ...Note } } }
      fragment Note on License { users { totalCount } updatedAt @include(if: $no) }`,
      { id: application.id, yes: true, no: false },
    );
    expect(answer.errors).toEqual([]);
    expect(answer.data).toEqual({
      application: {
        licenses: {
          edges: [
            {
              cursor: cursorOf(id),
              same: { keyPrefix: expect.any(String), note: 'for Bob' },
              node: { noteCiphertextB64: null, users: { totalCount: 0 } },
              late: { application: { name: 'Photo Lab' } },
            },
          ],
          renamed: [{ node: { id } }],
          again: [{ other: { hwid: null, noteCiphertextB64: null } }],
          totalCount: 1,
        },
        log: {
          renamed: [
            { other: { event: 'licenses_created', metadata: expect.objectContaining({ amount: 1 }) } },
            { other: { event: 'application_created', metadata: expect.any(Object) } },
          ],
        },
      },
    });
  });

  test('can differ between lists of one application in one document', async () => {
    const { applicationId, ids } = await seed(3);
    const answer = await world.graphql.ask(
      `query ($id: ID!) {
        one: application(id: $id) { newest: licenses(first: 1) { edges { node { id } } } all: licenses { totalCount } }
        two: application(id: $id) { newest: licenses(last: 1) { edges { node { id note } } } }
      }`,
      { id: applicationId },
    );
    expect(answer.data).toEqual({
      one: { newest: { edges: [{ node: { id: ids[0] } }] }, all: { totalCount: 3 } },
      two: { newest: { edges: [{ node: { id: ids[2], note: null } }] } },
    });
  });
});
