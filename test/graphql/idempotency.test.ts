import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { noLimits } from '../api/support.ts';
import { useServer } from '../setup/use-world.ts';
import { askGraphql, askRest, routes } from './ask-pair.ts';
import { createFullAccount, type FullAccount, stateBesideUse } from './full-account.ts';
import { type Pair, pairs, type Subject } from './pairs.ts';

const server = useServer({ env: noLimits });

/** Without an account, or ending it: nothing can be stored for it. */
const withoutAccount: readonly string[] = [
  'registerDeveloper',
  'loginDeveloper',
  'logoutDeveloper',
  'deleteAccount',
];
/** Sent like changes, and change nothing. */
const asks: readonly string[] = ['explainLicense'];

/** What it shows changes by itself: GraphQL reads it again. */
const goesOn: ReadonlySet<string> = new Set(['Mutation.redeliverWebhookDelivery']);

const isChange = ({ rest }: Pair) => routes.get(rest)?.method !== 'GET';
const changes = pairs.filter((pair) => isChange(pair) && ![...withoutAccount, ...asks].includes(pair.rest));

const subjectOf = (world: FullAccount, pair: Pair): Subject => ({
  world,
  ids: { ...world.ids, ...pair.about?.(world) },
});
const key = () => ({ headers: { 'Idempotency-Key': randomUUID() } });

test('every change of REST that is sent twice with one key is made once, and answered with the same', async () => {
  const world = await createFullAccount(server);
  for (const pair of changes) {
    const subject = subjectOf(world, pair);
    const client = world.client.with(key());
    await pair.prepare?.(server, world.developer.id);
    const body = pair.body?.(subject);
    const send = () => askRest(client, pair, subject.ids, body);
    const first = await send();
    expect(first.body, pair.rest).toMatchObject({ success: true });
    expect(first.headers.has('Idempotent-Replayed'), pair.rest).toBe(false);
    const before = await stateBesideUse(server);
    const again = await send();
    expect({ status: again.status, body: again.body }, pair.rest).toEqual({
      status: first.status,
      body: first.body,
    });
    expect(again.headers.get('Idempotent-Replayed'), pair.rest).toBe('true');
    expect(await stateBesideUse(server), pair.rest).toEqual(before);
  }
  expect(changes.length).toBeGreaterThan(30);
});

test('every mutation that is sent twice with one key is carried out once, and has the same result', async () => {
  const world = await createFullAccount(server);
  for (const pair of changes) {
    const subject = subjectOf(world, pair);
    const client = world.graphql.with(key());
    await pair.prepare?.(server, world.developer.id);
    const body = pair.body?.(subject);
    const send = () => askGraphql(client, pair, subject.ids, body);
    const first = await send();
    expect(first.errors, pair.graphql).toEqual([]);
    expect(first.headers.has('Idempotent-Replayed'), pair.graphql).toBe(false);
    const before = await stateBesideUse(server);
    const again = await send();
    if (goesOn.has(pair.graphql)) expect(again.errors, pair.graphql).toEqual([]);
    else expect(again.answer.body, pair.graphql).toEqual(first.answer.body);
    expect(again.headers.get('Idempotent-Replayed'), pair.graphql).toBe('true');
    expect(await stateBesideUse(server), pair.graphql).toEqual(before);
  }
});
