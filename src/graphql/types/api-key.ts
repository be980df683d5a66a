import { apiKeyWarning, type CreatedApiKey, createApiKey } from '../../services/api-key/create.ts';
import { apiKeysOfDevelopers, apiKeyTable } from '../../services/api-key/lists.ts';
import { apiKeyNotFound, keptRevokedKeys, revokeApiKey } from '../../services/api-key/revoke.ts';
import { type ApiKeyRow, apiKeySelect } from '../../services/api-key/view.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { withInput } from '../input.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { toExactlyOne } from '../to-one.ts';
import { Account } from './account.ts';
import { Node } from './node.ts';

export const ApiKey = builder.prismaObject('ApiKey', {
  description: 'A credential for programs, with access to the whole account. The key is shown only once.',
  interfaces: [Node],
  select: apiKeySelect,
});

builder.objectFields(ApiKey, (t) => ({
  name: t.exposeString('name', { description: 'The name you gave it.' }),
  keyPrefix: t.exposeString('keyPrefix', { description: 'The first characters of the key.' }),
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

const findApiKey = toExactlyOne<ApiKeyRow>(apiKeyTable, apiKeyNotFound);

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
  }),
});

const CreateApiKeyPayload = builder.objectRef<CreatedApiKey>('CreateApiKeyPayload').implement({
  description: 'The new key. It is shown only once.',
  fields: (t) => ({
    apiKey: t.exposeString('apiKey', { description: 'The key in plain text: service_live_…' }),
    // From memory: if it were read again and that failed, the key would be lost.
    key: t.field({
      type: ApiKey,
      description: 'The API key as it is listed from now on.',
      resolve: (created) => ({ ...created, lastUsedAt: null, revokedAt: null }),
    }),
    warning: t.string({ description: 'How to store the key.', resolve: () => apiKeyWarning }),
  }),
});

const RevokeApiKeyInput = builder.inputType('RevokeApiKeyInput', {
  description: 'The API key to revoke.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The id of the API key.' }) }),
});

const RevokeApiKeyPayload = builder.objectRef<{ id: string }>('RevokeApiKeyPayload').implement({
  description: 'The API key after the change.',
  fields: (t) => ({
    key: t.field({
      type: ApiKey,
      description: 'The API key.',
      resolve: ({ id }, _args, context, info) => findApiKey(id, context, info),
    }),
  }),
});

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: CreateApiKeyPayload,
    ...withInput(CreateApiKeyInput, 'The new key.'),
    description: 'Creates an API key with access to the whole account. Errors: LIMIT_REACHED.',
    resolve: (_parent, { input }, { service }) => createApiKey({ ctx: service, input }),
  }),
  revokeApiKey: t.field({
    type: RevokeApiKeyPayload,
    ...withInput(RevokeApiKeyInput, 'The key to revoke.'),
    description:
      'Revokes an API key permanently. Revoking a revoked key has no effect. Errors: API_KEY_NOT_FOUND.',
    resolve: async (_parent, { input }, { service }) => {
      await revokeApiKey({ ctx: service, input });
      return input;
    },
  }),
}));
