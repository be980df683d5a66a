import {
  apiKeyWarning,
  type CreatedApiKey,
  createApiKey,
  createApiKeyInput,
} from '../../services/api-key/create.ts';
import { apiKeyFilter, apiKeysOfDevelopers, apiKeyTable } from '../../services/api-key/lists.ts';
import { apiKeyNotFound, revokeApiKey } from '../../services/api-key/revoke.ts';
import { builder } from '../builder.ts';
import { connectionComplexity, connectionType } from '../connection.ts';
import { parseInput } from '../input.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { toExactlyOne } from '../to-one.ts';
import { Account } from './account.ts';

export const ApiKey = builder.prismaObject('ApiKey', {
  description: 'A full-account credential for programs. The key itself is shown once, when it is made.',
  select: { id: true, name: true, keyPrefix: true, createdAt: true, lastUsedAt: true, revokedAt: true },
  fields: (t) => ({
    id: t.id({ description: 'UUID, the same as in REST.', resolve: ({ id }) => id }),
    name: t.string({ description: 'What you called it.', resolve: ({ name }) => name }),
    keyPrefix: t.string({
      description: 'The start of the key, to tell keys apart.',
      resolve: ({ keyPrefix }) => keyPrefix,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was made.',
      resolve: ({ createdAt }) => createdAt,
    }),
    lastUsedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'To within a minute; null when it was never used.',
      resolve: ({ lastUsedAt }) => lastUsedAt,
    }),
    revoked: t.boolean({
      ...reads('revokedAt'),
      description: 'Whether it works no more.',
      resolve: ({ revokedAt }) => revokedAt !== null,
    }),
  }),
});

type ApiKeyShape = typeof ApiKey.$inferType;

const findApiKey = toExactlyOne<ApiKeyShape>(apiKeyTable, apiKeyNotFound);

export const ApiKeyConnection = connectionType('ApiKeyConnection', ApiKey, 'API keys');

const ApiKeyFilterInput = builder.inputType('ApiKeyFilter', {
  description: 'Which API keys; each condition that is given has to hold.',
  fields: (t) => ({ revoked: t.boolean({ description: 'Revoked ones; false: those that work.' }) }),
});

builder.prismaObjectField(Account, 'apiKeys', (t) =>
  t.field({
    type: ApiKeyConnection,
    description: 'The API keys, revoked ones too, newest first.',
    args: {
      ...t.arg.connectionArgs(),
      filter: t.arg({ type: ApiKeyFilterInput, description: 'Conditions.' }),
    },
    complexity: connectionComplexity,
    ...listField<ApiKeyShape, typeof apiKeyFilter>(apiKeysOfDevelopers, apiKeyFilter),
  }),
);

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'A new API key.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What to call it: 1 to 100 characters.' }),
  }),
});

const CreateApiKeyPayload = builder.objectRef<CreatedApiKey>('CreateApiKeyPayload').implement({
  description: 'The new key. This is the one time that it is shown.',
  fields: (t) => ({
    apiKey: t.exposeString('apiKey', { description: 'The key in the clear: service_live_…' }),
    // From memory: a failure to read it anew must not take the key with it.
    key: t.field({
      type: ApiKey,
      description: 'What stays to be seen of it.',
      resolve: (created) => ({ ...created, lastUsedAt: null, revokedAt: null }),
    }),
    warning: t.string({ description: 'What to mind about it.', resolve: () => apiKeyWarning }),
  }),
});

const RevokeApiKeyInput = builder.inputType('RevokeApiKeyInput', {
  description: 'An API key that is to work no more.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The API key.' }) }),
});

const RevokeApiKeyPayload = builder.objectRef<{ id: string }>('RevokeApiKeyPayload').implement({
  description: 'The API key as it is now.',
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
    nullable: true,
    description: 'Makes an API key, which opens the whole account. Errors: LIMIT_REACHED.',
    args: { input: t.arg({ type: CreateApiKeyInput, required: true, description: 'The new key.' }) },
    resolve: (_parent, { input }, { service }) =>
      createApiKey({ ctx: service, input: parseInput(createApiKeyInput, input) }),
  }),
  revokeApiKey: t.field({
    type: RevokeApiKeyPayload,
    nullable: true,
    description: 'Revokes an API key for good. Revoking it again changes nothing. Errors: API_KEY_NOT_FOUND.',
    args: { input: t.arg({ type: RevokeApiKeyInput, required: true, description: 'Which key.' }) },
    resolve: async (_parent, { input: { id } }, { service }) => {
      await revokeApiKey({ ctx: service, input: { id } });
      return { id };
    },
  }),
}));
