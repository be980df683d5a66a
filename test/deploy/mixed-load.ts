import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/lib/clock.ts';
import type { ApiAnswer } from '../setup/api-client.ts';
import { createCallClient } from '../setup/call-client.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import type { SeededApplication, World } from '../setup/world.ts';

/**
 * Requests of every kind, sent at a fixed rate whatever the answers are. What this process could not send in time, because
 * the machine is busy, is not sent later in a burst.
 */
export interface MixedLoad {
  /** Stops sending, and waits for the answers. */
  stop(): Promise<LoadReport>;
}

export interface LoadReport {
  /** Answered requests by kind. */
  readonly answered: Readonly<Record<string, number>>;
  /** What was wrong with the others. */
  readonly failures: readonly string[];
  /** Keys that were minted. Each of them is answered once. */
  readonly minted: readonly string[];
  readonly slowestMilliseconds: number;
  /** The longest time for which the machine did not run this process. */
  readonly longestStallMilliseconds: number;
}

const query = `query ($id: ID!) {
  application(id: $id) { licenses(first: 5) { totalCount edges { node { keyPrefix } } } }
}`;
const mintedKeys = z.object({ keys: z.array(z.object({ licenseKey: z.string() })).length(1) });
const okay = z.object({ code: z.literal('OK') });
const withoutErrors = z.strictObject({ data: z.object({ application: z.object({}) }) });

/** Like as many clients, each of which waits for its answers. */
const mostOpen = 100;
const mostAtOnce = 10;

function expectStatus({ status, body }: ApiAnswer, expected: number): void {
  expect(status, JSON.stringify(body)).toBe(expected);
}

export interface Target {
  /** The URL of the proxy. */
  readonly url: string;
  readonly world: World;
  readonly application: SeededApplication;
  readonly licenseKeys: readonly string[];
}

/** @param perSecond the number of requests */
export async function startMixedLoad(target: Target, perSecond: number): Promise<MixedLoad> {
  const { url, world, application, licenseKeys } = target;
  const server = { baseUrl: url, clock: systemClock };
  /** Opened before the roll, and used during all of it. */
  const kept = await openSession(server, application);
  const caller = createCallClient(server, application);
  const key = await caller.key();
  const minted: string[] = [];
  let turn = 0;
  const licenseKey = () => licenseKeys[turn % licenseKeys.length];
  const validate = async (session: SealedSession) =>
    void okay.parse(await session.ask(validatePath, { licenseKey: licenseKey() }));

  const kinds: Record<string, () => Promise<void>> = {
    'v1 session init': async () => void (await openSession(server, application)),
    'v1 validate': () => validate(kept),
    'v2 call': async () => {
      const sent = await caller.seal(caller.plaintext('validate', { licenseKey: licenseKey() }), { key });
      okay.parse(caller.open(sent, await caller.post(sent.body)));
    },
    'v2 key': async () => void (await caller.key()),
    'REST read': async () =>
      expectStatus(await world.client.get(`/api/v1/apps/${application.id}/licenses?limit=5`), 200),
    'REST mint': async () => {
      const client = world.client.with({ headers: { 'Idempotency-Key': randomUUID() } });
      const fields = { applicationId: application.id, amount: 1, durationSeconds: 3_600 };
      const answer = await client.post('/api/v1/licenses/create', fields);
      expectStatus(answer, 201);
      minted.push(...mintedKeys.parse(answer.body).keys.map((each) => each.licenseKey));
    },
    GraphQL: async () => {
      const answer = await world.client.post('/graphql', { query, variables: { id: application.id } });
      expectStatus(answer, 200);
      withoutErrors.parse(answer.body);
    },
  };
  // In ten requests: four validations of version 1, and one or two of each other kind.
  const order = [
    'v1 validate',
    'v2 call',
    'REST read',
    'v1 validate',
    'v1 session init',
    'v1 validate',
    'REST mint',
    'GraphQL',
    'v1 validate',
    'v2 key',
  ];

  const answered: Record<string, number> = {};
  const failures: string[] = [];
  const open = new Set<Promise<void>>();
  let slowestMilliseconds = 0;
  const send = async (kind: string): Promise<void> => {
    const startedAt = performance.now();
    try {
      await kinds[kind]?.();
      answered[kind] = (answered[kind] ?? 0) + 1;
    } catch (error) {
      failures.push(`${kind}, ${new Date().toISOString()}: ${reasonOf(error)}`);
    }
    slowestMilliseconds = Math.max(slowestMilliseconds, performance.now() - startedAt);
  };
  let longestStallMilliseconds = 0;
  let passed = 0;
  let isStopped = false;
  const sending = (async () => {
    const startedAt = performance.now();
    while (!isStopped) {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond);
      const number = Math.min(due - passed, mostAtOnce, mostOpen - open.size);
      passed = due;
      for (let sent = 0; sent < number; sent += 1, turn += 1) {
        const request = send(order[turn % order.length] ?? '');
        open.add(request);
        void request.finally(() => open.delete(request));
      }
      const sleptAt = performance.now();
      await sleep(5);
      longestStallMilliseconds = Math.max(longestStallMilliseconds, performance.now() - sleptAt);
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      await sending;
      await Promise.all(open);
      return { answered, failures, minted, slowestMilliseconds, longestStallMilliseconds };
    },
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.message}${error.cause instanceof Error ? ` (${error.cause.message})` : ''}`;
}
