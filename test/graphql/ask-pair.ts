import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ApiAnswer, ApiClient } from '../setup/api-client.ts';
import type { GraphqlClient } from '../setup/graphql-client.ts';
import { bushOf, operationOf } from './documents.ts';
import type { Ids } from './full-account.ts';
import type { Pair } from './pairs.ts';

const operation = z.looseObject({
  operationId: z.string(),
  description: z.string().optional(),
  security: z.array(z.unknown()).optional(),
  'x-required-scope': z.array(z.string()).optional(),
});
const openapi = z
  .object({ paths: z.record(z.string(), z.record(z.string(), operation)) })
  .parse(JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')));

/** The operations of REST by their ids, from the committed contract. */
export const routes = new Map(
  Object.entries(openapi.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId, description = '', security, ...rest }]) => [
      operationId,
      {
        method: method.toUpperCase(),
        path,
        description,
        isOpen: security?.length === 0,
        scopes: rest['x-required-scope'],
      },
    ]),
  ),
);

type Members = Readonly<Record<string, unknown>>;

/** What `{id}` names in a path. */
export function kindOfId(path: string): keyof Ids {
  if (path.startsWith('/licenses')) return 'license';
  if (path.startsWith('/account/sessions')) return 'session';
  if (path.startsWith('/webhooks')) return 'webhook';
  return path.startsWith('/account') ? 'key' : 'application';
}

/** Sends a pair's operation of REST. */
export function askRest(
  client: ApiClient,
  { rest }: Pair,
  ids: Ids,
  body: Members | undefined,
): Promise<ApiAnswer> {
  const { method = '', path = '' } = routes.get(rest) ?? {};
  const idOf = ids[kindOfId(path)];
  const filled = [
    ['{id}', idOf],
    ['{userId}', ids.user],
    ['{banId}', ids.ban],
    ['{deviceId}', ids.device],
    ['{policyId}', ids.policy],
    ['{deliveryId}', ids.delivery],
  ].reduce((text, [name = '', id = '']) => text.replace(name, encodeURIComponent(id)), `/api/v1${path}`);
  if (method !== 'GET') return client.send(method, filled, body);
  const query = Object.entries(body ?? {}).map(([name, value]) => [name, String(value)]);
  return client.get(`${filled}?${new URLSearchParams(query)}`);
}

/** Sends a pair's document. */
export function askGraphql(client: GraphqlClient, pair: Pair, ids: Ids, body: Members | undefined) {
  const { graphql, document, spell = (members: Members) => members } = pair;
  const members = { ...pair.ids?.(ids), ...spell(body ?? {}) };
  const text = document ?? operationOf(graphql, (type) => bushOf(type, 1));
  // A mutation without an input declares none.
  const isInput = graphql.startsWith('Mutation.') && text.includes('$input');
  return client.ask(text, isInput ? { input: members } : members);
}
