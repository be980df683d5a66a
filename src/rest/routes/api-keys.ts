import { z } from '@hono/zod-openapi';
import { apiKeyWarning, createApiKey, createApiKeyInput } from '../../services/api-key/create.ts';
import { listApiKeys } from '../../services/api-key/list.ts';
import { keptRevokedKeys, revokeApiKey } from '../../services/api-key/revoke.ts';
import type { ApiKeyView } from '../../services/api-key/view.ts';
import { serviceContext } from '../adapter.ts';
import { listNote, listQuery } from '../page-query.ts';
import {
  bodyCodes,
  changeCodes,
  createRoute,
  createRouter,
  failures,
  forDevelopers,
  idParam,
  jsonAnswer,
  jsonBody,
  readCodes,
} from '../route.ts';
import { answer, apiKeySchema, listedApiKeySchema, nextCursorSchema } from '../schemas.ts';

const dashboard = { ...forDevelopers, tags: ['API keys'] };

const createApiKeyRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/account/api-keys',
  operationId: 'createApiKey',
  summary: 'Create an API key; its token is shown only once',
  description:
    'The key grants access to the whole account, as a login does, and has no scopes. The service stores only its hash.',
  request: { body: jsonBody(createApiKeyInput) },
  responses: {
    201: jsonAnswer('The key', answer({ key: apiKeySchema, warning: z.string() })),
    ...failures(...bodyCodes, 'LIMIT_REACHED'),
  },
});

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/account/api-keys',
  operationId: 'listApiKeys',
  summary: 'List your API keys, including revoked ones, newest first',
  description: `Metadata and last use, without tokens. ${listNote} The newest ${keptRevokedKeys} revoked keys are kept.`,
  request: { query: listQuery },
  responses: {
    200: jsonAnswer('The keys', answer({ keys: z.array(listedApiKeySchema), nextCursor: nextCursorSchema })),
    ...failures(...readCodes),
  },
});

const revokeRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/account/api-keys/{id}/revoke',
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key permanently',
  description: 'Revoking a revoked key has no effect.',
  request: { params: idParam('the API key') },
  responses: {
    200: jsonAnswer('The key is revoked', answer({})),
    ...failures(...changeCodes, 'API_KEY_NOT_FOUND'),
  },
});

/** The documented API spells this one field in snake case. */
export const listedApiKey = ({ lastUsedAt, ...key }: ApiKeyView) => ({ ...key, last_used_at: lastUsedAt });

export const apiKeyRoutes = createRouter()
  .openapi(createApiKeyRoute, async (c) => {
    const key = await createApiKey({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, key, warning: apiKeyWarning }, 201);
  })
  .openapi(listRoute, async (c) => {
    const input = c.req.valid('query');
    const { items, nextCursor } = await listApiKeys({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, keys: items.map(listedApiKey), nextCursor }, 200);
  })
  .openapi(revokeRoute, async (c) => {
    await revokeApiKey({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const }, 200);
  });
