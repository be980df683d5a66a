import { apiKeyWarning, createApiKey } from '../../services/api-key/create.ts';
import { createApiKeyInput, updateApiKeyInput } from '../../services/api-key/fields.ts';
import { apiKeysOfDevelopers, apiKeyTable } from '../../services/api-key/lists.ts';
import { apiKeyNotFound } from '../../services/api-key/lock.ts';
import { keptRevokedKeys, revokeApiKey } from '../../services/api-key/revoke.ts';
import { rotateApiKey } from '../../services/api-key/rotate.ts';
import { updateApiKey } from '../../services/api-key/update.ts';
import { type ApiKeyRow, apiKeySelect, type IssuedApiKey } from '../../services/api-key/view.ts';
import { parseInput } from '../../services/parse-input.ts';
import { readScopes } from '../../services/scopes.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { withInput, withoutNulls } from '../input.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { toChanged } from '../to-one.ts';
import { Account } from './account.ts';
import { Node } from './node.ts';

export const ApiKey = builder.prismaObject('ApiKey', {
  description:
    'A credential for programs, for the whole account or a part of it. The key is shown only once.',
  interfaces: [Node],
  select: apiKeySelect,
});

builder.objectFields(ApiKey, (t) => ({
  name: t.exposeString('name', { description: 'The name you gave it.' }),
  keyPrefix: t.exposeString('keyPrefix', { description: 'The first characters of the key.' }),
  scopes: t.stringList({
    description: 'What it may do, such as licenses:read.',
    resolve: ({ scopes }) => [...readScopes(scopes)],
  }),
  applicationId: t.exposeID('applicationId', {
    nullable: true,
    description: 'The only application that it opens; null: all, and the account.',
  }),
  allowedCidrs: t.exposeStringList('allowedCidrs', {
    description: 'The networks that it may be used from; none: any.',
  }),
  expiresAt: t.expose('expiresAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When it expires; null: never.',
  }),
  previousValidUntil: t.expose('previousValidUntil', {
    type: 'DateTime',
    nullable: true,
    description: 'When the token before the last rotation ends or ended; null if there was none.',
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  lastUsedAt: t.expose('lastUsedAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When it was last used, to within a minute; null if never.',
  }),
  revoked: t.boolean({
    ...reads('revokedAt'),
    description: 'Whether it has been revoked.',
    resolve: ({ revokedAt }) => revokedAt !== null,
  }),
}));

const changedApiKey = toChanged<ApiKeyRow>(apiKeyTable, apiKeyNotFound);

export const ApiKeyConnection = connectionType('ApiKeyConnection', ApiKey, 'API keys');

const ApiKeyFilterInput = builder.inputType('ApiKeyFilter', {
  description: 'Filters API keys. All given conditions must hold.',
  fields: (t) => ({
    revoked: t.boolean({ description: 'True: revoked keys. False: keys that are not revoked.' }),
  }),
});

builder.objectField(Account, 'apiKeys', (t) =>
  t.field({
    type: ApiKeyConnection,
    description: `The API keys, including revoked ones, newest first. The newest ${keptRevokedKeys} revoked keys are kept.`,
    args: {
      ...t.arg.connectionArgs(),
      filter: t.arg({ type: ApiKeyFilterInput, description: 'Filters the list.' }),
    },
    ...listField<ApiKeyRow>(apiKeysOfDevelopers),
  }),
);

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'A new API key.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the key: 1 to 100 characters.' }),
    scopes: t.stringList({
      description:
        'What it may do: names such as licenses:read, or users:*, applications:*, webhooks:* and account:* for both of theirs. By default everything, also what later versions add.',
    }),
    applicationId: t.id({
      description: 'The only application that it opens; it then has no scope for the account.',
    }),
    allowedCidrs: t.stringList({
      description: 'The networks that it may be used from, such as 192.0.2.0/24; at most 20. By default any.',
    }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it expires; by default never.' }),
  }),
});

const UpdateApiKeyInput = builder.inputType('UpdateApiKeyInput', {
  description: 'An API key, and at least one member to change.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the API key.' }),
    name: t.string({ description: 'The name of the key: 1 to 100 characters.' }),
    scopes: t.stringList({ description: 'What it may do, as a whole.' }),
    allowedCidrs: t.stringList({
      description: 'The networks that it may be used from, as a whole; an empty list: any.',
    }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it expires; null: never.' }),
  }),
});

const RotateApiKeyInput = builder.inputType('RotateApiKeyInput', {
  description: 'The API key that gets a new token.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the API key.' }),
    overlapSeconds: t.int({
      required: true,
      description: 'How long the old token stays good: 0 to 604,800 (7 days).',
    }),
  }),
});

/** The payload of a mutation that makes a token. */
const issuedPayload = (name: string) =>
  builder.objectRef<IssuedApiKey>(name).implement({
    description: 'The key with its new token. It is shown only once.',
    fields: (t) => ({
      apiKey: t.exposeString('apiKey', { description: 'The key in plain text: service_live_…' }),
      // From memory: if it were read again and that failed, the key would be lost.
      key: t.field({
        type: ApiKey,
        description: 'The API key as it is listed from now on.',
        resolve: ({ key }) => key,
      }),
      warning: t.string({ description: 'How to store the key.', resolve: ({ key }) => apiKeyWarning(key) }),
    }),
  });

/** The payload of a mutation that changes a key. */
const apiKeyPayload = (name: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description: 'The API key after the change.',
    fields: (t) => ({
      key: t.field({
        type: ApiKey,
        description: 'The API key.',
        resolve: ({ id }, _args, context, info) => changedApiKey(id, context, info),
      }),
    }),
  });

const RevokeApiKeyInput = builder.inputType('RevokeApiKeyInput', {
  description: 'The API key to revoke.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The id of the API key.' }) }),
});

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: issuedPayload('CreateApiKeyPayload'),
    ...withInput(CreateApiKeyInput, 'The new key.'),
    description:
      'Creates an API key. A caller with an API key can only give what that key has itself (INSUFFICIENT_SCOPE). Errors: CONFIRMATION_REQUIRED, APP_NOT_FOUND, LIMIT_REACHED.',
    resolve: (_parent, { input }, { service }) => {
      const { expiresAt, ...key } = withoutNulls(input);
      const given = { ...key, ...(expiresAt && { expiresAt: expiresAt.toISOString() }) };
      return createApiKey({ ctx: service, input: parseInput(createApiKeyInput, given) });
    },
  }),
  updateApiKey: t.field({
    type: apiKeyPayload('UpdateApiKeyPayload'),
    ...withInput(UpdateApiKeyInput, 'The key and its changes.'),
    description:
      'Changes an API key, from its next request on. A caller with an API key cannot change a key that opens more than that key afterwards (INSUFFICIENT_SCOPE). Errors: CONFIRMATION_REQUIRED, API_KEY_NOT_FOUND, INVALID_TRANSITION.',
    resolve: (_parent, { input: { id, expiresAt, ...change } }, { service }) => {
      const given = {
        ...withoutNulls(change),
        ...(expiresAt !== undefined && { expiresAt: expiresAt?.toISOString() ?? null }),
      };
      return updateApiKey({ ctx: service, input: { id, change: parseInput(updateApiKeyInput, given) } });
    },
  }),
  rotateApiKey: t.field({
    type: issuedPayload('RotateApiKeyPayload'),
    ...withInput(RotateApiKeyInput, 'The key and the overlap.'),
    description:
      'Gives an API key a new token. The old one stays good during the overlap; one that an earlier rotation has replaced ends at once. Errors: CONFIRMATION_REQUIRED, API_KEY_NOT_FOUND, INVALID_TRANSITION.',
    resolve: (_parent, { input }, { service }) => rotateApiKey({ ctx: service, input }),
  }),
  revokeApiKey: t.field({
    type: apiKeyPayload('RevokeApiKeyPayload'),
    ...withInput(RevokeApiKeyInput, 'The key to revoke.'),
    description:
      'Revokes an API key permanently. Revoking a revoked key has no effect. Errors: API_KEY_NOT_FOUND.',
    resolve: async (_parent, { input }, { service }) => {
      await revokeApiKey({ ctx: service, input });
      return input;
    },
  }),
}));
