/** @module-tag slow */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { buildIndexes } from '../../src/db/build-indexes.ts';
import { buildFilterIndexes, listIndexes } from '../../src/db/list-indexes.ts';
import { buildSearchIndexes, tidySearchIndexes } from '../../src/db/search-indexes.ts';
import { insertLicenses } from '../graphql/rows.ts';
import { createCallClient } from '../setup/call-client.ts';
import { sql } from '../setup/stored.ts';
import { useWorld } from '../setup/use-world.ts';
import { expectSuccess, noLimits } from './support.ts';

/** A change of ten thousand licenses holds up nobody. Its figures are for people: a busy machine decides no test. */

const { server, world } = useWorld({ env: noLimits });

const many = 10_000;
const outcome = z.object({ matched: z.int(), changed: z.int() });
const isEmbedded = () => server.deps.services.database.kind !== 'server';

/** Asks one after another until the work is done. @returns how long each took, in milliseconds */
async function waitsDuring(work: Promise<unknown>, ask: () => Promise<unknown>): Promise<number[]> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const waits: number[] = [];
  while (!isDone) {
    const start = performance.now();
    await ask();
    waits.push(performance.now() - start);
  }
  await done;
  return waits;
}

test('ten thousand licenses are changed while others validate', async ({ annotate }) => {
  const { id } = await world.createApplication();
  const other = await world.createApplication();
  const keys = await other.mint({ amount: 10_000 });
  const notes = [0, 0, 20, 200, 1000].map((length) => () => randomBytes(length / 2).toString('hex'));
  const activated_at = '2026-01-01T00:00:00Z';
  await insertLicenses(
    server,
    id,
    Array.from({ length: many }, (_, index) => ({
      status: 'active' as const,
      activated_at,
      expires_at: '2030-01-01T00:00:00Z',
      hwid: randomBytes(16).toString('hex'),
      note: notes[index % notes.length]?.() ?? null,
      tags: ['reseller'],
    })),
  );
  await sql(
    server,
    `INSERT INTO devices (id, license_id, hwid, first_seen_at, last_seen_at)
     SELECT gen_random_uuid(), id, hwid, activated_at, activated_at FROM licenses WHERE application_id = $1`,
    [id],
  );
  const { pool } = server.deps.services.database;
  await buildSearchIndexes(pool, server.deps.log);
  await buildIndexes(pool, listIndexes);
  await buildFilterIndexes(pool);
  await tidySearchIndexes(pool);
  await sql(server, 'ANALYZE');

  const client = createCallClient(server, other);
  const validate = async () => {
    // Each for the first time, so that it reads and writes the database.
    const licenseKey = keys.pop()?.licenseKey;
    expect(await client.ask('validate', { licenseKey, hwid: 'device' })).toMatchObject({ code: 'OK' });
  };
  const report = (what: string, waits: readonly number[], start: number) => {
    const sorted = waits.toSorted((one, other) => one - other);
    const at = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? 0);
    const took = Math.round(performance.now() - start);
    return annotate(
      `${what}: ${took} ms, ${waits.length} validations; median ${at(0.5)} ms, 99 % ${at(0.99)} ms, longest ${at(1)} ms`,
    );
  };
  const alone = performance.now();
  await report('nothing', await waitsDuring(new Promise((done) => setTimeout(done, 3_000)), validate), alone);

  const actions = [
    { action: 'suspend', dryRun: true },
    { action: 'suspend', params: { stopClock: true } },
    { action: 'reinstate' },
    { action: 'addTags', params: { tags: ['winter', 'sale'] } },
    { action: 'setTier', params: { subscriptionTier: 3 } },
    { action: 'ban' },
    { action: 'delete' },
  ];
  for (const body of actions) {
    const start = performance.now();
    const changing = world.client.post(`/api/v1/apps/${id}/licenses/bulk`, {
      ...body,
      filter: { tag: 'reseller' },
    });
    const waits = await waitsDuring(changing, validate);
    await report(`${body.action}${body.dryRun ? ' as a dry run' : ''}`, waits, start);
    expect(expectSuccess(await changing, 200, outcome)).toMatchObject({ matched: many, changed: many });
    // With one session, a validation that arrives during a slice is answered after it, and not after all of them.
    expect(waits.length).toBeGreaterThan(isEmbedded() ? 10 : 0);
  }
}, 600_000);
