import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useServer } from '../setup/use-world.ts';
import { createFullAccount } from './full-account.ts';

const server = useServer();

test('a row that fails at once, after one that fails late, leaves no rejection that nobody hears of', async () => {
  const unhandled: unknown[] = [];
  const noteUnhandled = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', noteUnhandled);
  try {
    const { client, graphql, ids, licenses, mark } = await createFullAccount(server);
    // The newest user has a license, which is read late; the one before has none.
    const answer = await client.post(`/api/v1/apps/${ids.application}/users`, {
      username: `newest.${mark}`,
      password: `a user's password ${mark}`,
      licenseKey: licenses.unused.licenseKey,
    });
    expect(answer.status).toBe(201);
    const query =
      'query ($id: ID!, $first: Int) { application(id: $id) { id users { edges { node { license { id note } application { id licenses(first: $first) { totalCount } } } } } } }';
    for (let use = 1; use <= 3; use++) {
      expect((await graphql.ask(query, { id: ids.application, first: 1 })).codes).toEqual([]);
      const { data, codes } = await graphql.ask(query, { id: ids.application, first: -1 });
      expect({ data, codes }).toEqual({ data: { application: null }, codes: ['VALIDATION_FAILED'] });
    }
    // Licenses have been read when this is answered, and a rejection is told before the timer.
    await graphql.ask('{ me { id } }');
    await setTimeout(1);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', noteUnhandled);
  }
});
