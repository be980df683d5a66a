import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { createApiKey, noLimits } from './support.ts';

/**
 * GraphQL over HTTP, as the working group's specification has it: the audits that graphql-http publishes for servers,
 * what the specification demands, what it advises and what it leaves open alike.
 */

let server: TestServer;
let bearer: string;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  bearer = (await createApiKey((await createWorld(server)).client)).apiKey;
});
afterAll(() => server.close());

const url = () => `${server.baseUrl}/graphql`;

/** The audits' own requests, as they are but for a credential. */
const asDeveloper = (input: string, init: RequestInit = {}) =>
  fetch(input, { ...init, headers: { ...init.headers, Authorization: `Bearer ${bearer}` } });

describe.each([
  ['anyone', serverAudits({ url })],
  ['a developer', serverAudits({ url, fetchFn: asDeveloper })],
])('asked by %s, the service', (_who, audits) => {
  test('passes the complete audit', () => {
    const levels = audits.map(({ name }) => name.split(' ', 1)[0]);
    expect(new Set(levels)).toEqual(new Set(['MUST', 'SHOULD', 'MAY']));
    expect(audits).toHaveLength(61);
  });

  test.each(audits.map((audit) => [audit.id, audit.name, audit] as const))(
    '%s: %s',
    async (_id, _name, audit) => {
      const result = await audit.fn();
      expect(result.status === 'ok' ? 'ok' : result.reason).toBe('ok');
    },
  );
});
