import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { networkOf } from '../../src/lib/ip.ts';
import type { ApiAnswer } from '../setup/api-client.ts';
import { sql } from '../setup/stored.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import {
  accountExportAnswer,
  blindAnswer,
  expectFailure,
  expectSuccess,
  licensesAnswer,
  metricsAnswer,
  mintedAnswer,
  noLimits,
} from './support.ts';

const { server, world } = useWorld({ env: noLimits });

const amount = 1_500;
const note = randomBytes(500).toString('hex');

const mint = (applicationId: string, owner = world) =>
  owner.client.post('/api/v1/licenses/create', { applicationId, amount, durationSeconds: 0, note });

async function list(applicationId: string, query = 'limit=1') {
  const answer = await world.client.get(`/api/v1/apps/${applicationId}/licenses?${query}`);
  return expectSuccess(answer, 200, licensesAnswer).licenses;
}

async function countedLicenses(owner = world): Promise<number> {
  const answer = await owner.client.get('/api/v1/metrics/overview');
  return expectSuccess(answer, 200, metricsAnswer).metrics.licenses.total;
}

/** Sends requests one after another until the work is done, and returns the responses. */
async function toldDuring<Told>(work: Promise<unknown>, ask: () => Promise<Told>): Promise<Told[]> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const told: Told[] = [];
  while (!isDone) {
    const answer = await ask();
    if (!isDone) told.push(answer);
  }
  await done;
  return told;
}

const blindKeys = (count: number) =>
  Array.from({ length: count }, () => ({
    licenseKeyHash: createHash('sha256').update(randomBytes(16)).digest('hex'),
    licenseKeyPrefix: 'AB',
    durationSeconds: 0,
  }));

const isEmbedded = () => server.deps.services.database.kind !== 'server';

describe('a mint of many keys', () => {
  test('does not block other requests', { tags: 'slow' }, async () => {
    const { id } = await world.createApplication();
    const other = await world.createApplication();
    const license = await other.mintOne();
    const body = { appId: other.id, version: other.version, licenseKey: license.licenseKey, hwid: 'device' };
    const minting = mint(id);
    const told = await toldDuring(minting, async () => {
      const validated = await world.client.post('/api/v1/licenses/validate', body);
      return [validated.status, await countedLicenses()];
    });
    expectSuccess(await minting, 201, mintedAnswer);
    // With one session, a request that arrives during a transaction is answered after its end. The number of responses
    // between two slices depends on the machine.
    expect(told.length).toBeGreaterThan(isEmbedded() ? 2 : 0);
  });

  test('appears all at once in lists, searches, counts and exports', async () => {
    const owner = await createWorld(server);
    const { id } = await owner.createApplication();
    const seen = new Set<string>();
    const minting = mint(id, owner);
    const told = await toldDuring(minting, async () => {
      const [found] = [await owner.client.get(`/api/v1/apps/${id}/licenses?limit=1&q=${note.slice(900)}`)];
      const exported = await owner.client.get('/api/v1/account/export');
      return {
        found: expectSuccess(found, 200, licensesAnswer).licenses.length,
        counted: await countedLicenses(owner),
        exported: expectSuccess(exported, 200, accountExportAnswer).export.licenses.length,
      };
    });
    for (const each of told) seen.add(JSON.stringify(each));
    const { keys } = expectSuccess(await minting, 201, mintedAnswer);
    expect(keys).toHaveLength(amount);
    // Counts are requested after lists, so a mint may end in between.
    for (const each of told) {
      expect([0, 1]).toContain(each.found);
      expect([0, amount]).toContain(each.counted);
      expect([0, amount]).toContain(each.exported);
    }
    if (isEmbedded()) expect(seen).toContain(JSON.stringify({ found: 0, counted: 0, exported: 0 }));
    expect(await countedLicenses(owner)).toBe(amount);
    const deleted = await owner.client.delete(`/api/v1/licenses/${keys[0]?.id}`);
    expect(deleted.status).toBe(200);
    expect(await countedLicenses(owner)).toBe(amount - 1);
  });

  test('leaves no rows if its application is deleted in between, and the next mint works', async () => {
    if (!isEmbedded()) return;
    const { id } = await world.createApplication();
    const before = await countedLicenses();
    const minting = mint(id);
    await vi.waitFor(async () => expect(await sql(server, 'SELECT FROM mint_under_way')).toHaveLength(1), {
      timeout: 20_000,
      interval: 5,
    });
    expect((await world.client.delete(`/api/v1/apps/${id}`)).status).toBe(200);
    expectFailure(await minting, 404, 'APP_NOT_FOUND');
    expect(await sql(server, 'SELECT FROM mint_under_way')).toEqual([]);
    expect(await sql(server, 'SELECT FROM licenses WHERE application_id = $1', [id])).toEqual([]);
    expect(await countedLicenses()).toBe(before);
    const next = await world.createApplication();
    expectSuccess(await mint(next.id), 201, mintedAnswer);
  });

  test('of blind keys stores none if one of them exists, and all of them without it', async () => {
    const { id } = await world.createApplication();
    const store = (keys: unknown): Promise<ApiAnswer> =>
      world.client.post('/api/v1/licenses/create-blind', { applicationId: id, keys });
    const [known, ...fresh] = blindKeys(1_200);
    expectSuccess(await store([known]), 201, blindAnswer);
    const refused = await store([...fresh, known]);
    expectFailure(refused, 409, 'KEY_EXISTS');
    expect(refused.body).toMatchObject({ issues: [{ path: ['keys', 1_199, 'licenseKeyHash'] }] });
    expect(await list(id, 'limit=100')).toHaveLength(1);
    const { keys } = expectSuccess(await store(fresh), 201, blindAnswer);
    expect(keys).toHaveLength(1_199);
  });

  test('that has its turn does not wait behind all changes of its network', {
    tags: 'slow',
  }, async () => {
    if (!isEmbedded()) return;
    const { changeTurns } = server.deps.services;
    const { id } = await world.createApplication();
    const begun: (() => void)[] = [];
    const others = Array.from({ length: 20 }, (_, number) =>
      changeTurns.take(
        { developer: `account ${number}`, network: networkOf(world.client.ip) },
        () => new Promise<void>((resolve) => begun.push(resolve)),
      ),
    );
    let isDone = false;
    const minting = mint(id).finally(() => {
      isDone = true;
    });
    let ended = 0;
    const endOne = () => {
      begun.shift()?.();
      ended += 1;
    };
    const isWaiting = () => changeTurns.developers > others.length - ended && begun.length > 0;
    for (;;) {
      await vi.waitFor(() => expect(isDone || isWaiting()).toBe(true), { timeout: 20_000 });
      if (isDone) break;
      endOne();
    }
    expectSuccess(await minting, 201, mintedAnswer);
    // Before each of its two transactions it waits for the running turn and one turn of the network.
    expect(ended).toBeLessThanOrEqual(4);
    while (ended < others.length) {
      await vi.waitFor(() => expect(begun.length).toBeGreaterThan(0), { timeout: 30_000 });
      endOne();
    }
    await Promise.all(others);
  });

  test('can run concurrently with other mints, and each is complete', { tags: 'slow' }, async () => {
    const owners = await Promise.all(Array.from({ length: 3 }, () => createWorld(server)));
    const before = await Promise.all(
      owners.map(async (owner) => ({ owner, id: (await owner.createApplication()).id })),
    );
    const answers = await Promise.all(before.map(({ owner, id }) => mint(id, owner)));
    const keys = answers.flatMap((answer) => expectSuccess(answer, 201, mintedAnswer).keys);
    expect(new Set(keys.map(({ licenseKey }) => licenseKey)).size).toBe(3 * amount);
    for (const { owner } of before) expect(await countedLicenses(owner)).toBe(amount);
  });
});
