import { describe, expect, test } from 'vitest';
import {
  ApplicationsDocument,
  LicensesDocument,
  type LicensesQueryVariables,
  TypedDocumentString,
} from '../../src/management/index.ts';
import { useServer } from '../setup/use-world.ts';
import { createManagedWorld, listOf, type ManagedWorld } from './support.ts';

const server = useServer({ env: { RATE_LIMITS: 'licenseCreate=100000' } });

/** An application with this many licenses, and their ids from newest to oldest. */
async function seed(amount: number) {
  const world = await createManagedWorld(server);
  const application = await world.createApplication();
  const minted = await application.mint({ amount });
  const ids = minted.map(({ id }) => id).toSorted();
  const pages = (variables: Omit<LicensesQueryVariables, 'applicationId'>) =>
    world.latchkey.paginate(
      LicensesDocument,
      { applicationId: application.id, ...variables },
      (data) => data.application.licenses,
    );
  return { ...world, application, newestFirst: ids.toReversed(), oldestFirst: ids, pages };
}

const idsOf = async (items: AsyncIterable<{ id: string }>) => (await listOf(items)).map(({ id }) => id);

test('iterating yields every node once, whatever the page size', async () => {
  const { pages, newestFirst } = await seed(7);
  for (const first of [1, 3, 7, 8, undefined]) {
    expect(await idsOf(pages({ first }))).toEqual(newestFirst);
  }
});

test('with last it goes from the oldest to the newest', async () => {
  const { pages, oldestFirst } = await seed(7);
  for (const last of [1, 3, 7, 8]) expect(await idsOf(pages({ last }))).toEqual(oldestFirst);
});

test('it can begin after or before a cursor', async () => {
  const { pages, newestFirst } = await seed(5);
  const [page] = await listOf(pages({ first: 200 }).pages());
  const cursor = page?.edges[2]?.cursor;
  expect(await idsOf(pages({ first: 1, after: cursor }))).toEqual(newestFirst.slice(3));
  expect(await idsOf(pages({ last: 1, before: cursor }))).toEqual(newestFirst.slice(0, 2).toReversed());
});

test('pages() yields complete pages with other selected fields', async () => {
  const { pages } = await seed(5);
  const list = await listOf(pages({ first: 2 }).pages());
  expect(list.map(({ totalCount, edges }) => [totalCount, edges.length])).toEqual([
    [5, 2],
    [5, 2],
    [5, 1],
  ]);
  expect(list.map(({ pageInfo }) => pageInfo.hasNextPage)).toEqual([true, true, false]);
});

test('an empty list is an empty iteration', async () => {
  const { latchkey } = await createManagedWorld(server);
  expect(await listOf(latchkey.paginate(ApplicationsDocument, {}, (data) => data.me.applications))).toEqual(
    [],
  );
});

describe('rows that are added and deleted during the iteration', () => {
  test.each([
    ['forwards', { first: 2 }],
    ['backwards', { last: 2 }],
  ])('%s: nothing comes twice, and nothing is lost that was there all along', async (_way, variables) => {
    const { pages, application, client, newestFirst } = await seed(20);
    const doomed = newestFirst.filter((_, place) => place % 3 === 0);
    const gone: string[] = [];
    const came: string[] = [];
    for await (const { id } of pages(variables)) {
      came.push(id);
      // Backwards, each new row is yielded too.
      if (came.length < 20) await application.mint({ amount: 1 });
      const next = doomed.pop();
      if (next === undefined) continue;
      gone.push(next);
      expect((await client.delete(`/api/v1/licenses/${next}`)).status).toBe(200);
    }
    expect(new Set(came).size).toBe(came.length);
    expect(gone.length).toBe(7);
    expect(came).toEqual(expect.arrayContaining(newestFirst.filter((id) => !gone.includes(id))));
  });
});

describe('pages are fetched one at a time, on demand', () => {
  /** A world whose client counts its requests. */
  async function counted(world: ManagedWorld) {
    const { createManagementClient } = await import('../../src/management/index.ts');
    const sent: unknown[] = [];
    const counting: typeof fetch = (url, init) => {
      sent.push(init?.body);
      return fetch(url, init);
    };
    const options = { baseUrl: server.baseUrl, apiKey: world.apiKey, fetch: counting };
    return { latchkey: createManagementClient(options), sent };
  }

  test('and no more after the loop ends', async () => {
    const world = await seed(10);
    const { latchkey, sent } = await counted(world);
    const licenses = latchkey.paginate(
      LicensesDocument,
      { applicationId: world.application.id, first: 2 },
      (data) => data.application.licenses,
    );
    expect(sent).toHaveLength(0);
    let count = 0;
    for await (const _license of licenses) {
      count += 1;
      expect(sent).toHaveLength(Math.ceil(count / 2));
      if (count === 3) break;
    }
    expect(sent).toHaveLength(2);
    expect(await idsOf(licenses)).toEqual(world.newestFirst);
  });
});

describe('a paging problem is an error and not a short list:', () => {
  test('a page that fails', async () => {
    const { pages, client, application } = await seed(4);
    const came: string[] = [];
    const iterate = async () => {
      for await (const { id } of pages({ first: 2 })) {
        came.push(id);
        await client.delete(`/api/v1/apps/${application.id}`);
      }
    };
    await expect(iterate()).rejects.toMatchObject({ code: 'APP_NOT_FOUND' });
    expect(came).toHaveLength(2);
  });

  test('a signal that aborts', async () => {
    const { latchkey, application } = await seed(4);
    const controller = new AbortController();
    const licenses = latchkey.paginate(
      LicensesDocument,
      { applicationId: application.id, first: 2 },
      (data) => data.application.licenses,
      { signal: controller.signal },
    );
    const iterate = async () => {
      for await (const _license of licenses) controller.abort();
    };
    await expect(iterate()).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('a document without the page information, or without the connection', async () => {
    const { latchkey } = await seed(4);
    interface Data {
      me: { applications: { edges: { node: { id: string } }[]; pageInfo: { hasNextPage: boolean } } } | null;
    }
    const document = new TypedDocumentString<Data, { first?: number }>(
      'query ($first: Int) { me { applications(first: $first) { edges { node { id } } pageInfo { hasNextPage } } } }',
    );
    await expect(listOf(latchkey.paginate(document, {}, (data) => data.me.applications))).rejects.toThrow(
      'must select pageInfo { hasNextPage endCursor }',
    );
    const nowhere = (): Data['me'] => null;
    await expect(
      listOf(latchkey.paginate(document, {}, () => nowhere()?.applications)),
    ).rejects.toMatchObject({ code: 'BAD_ANSWER' });
  });
});
