import { createRoute, z } from '@hono/zod-openapi';
import { createApiKey, createApiKeyInput } from '../../services/api-key/create.ts';
import { type ApiKeyView, listApiKeys } from '../../services/api-key/list.ts';
import { revokeApiKey } from '../../services/api-key/revoke.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { createRouter, developerSecurity, failures, idParam, jsonAnswer, jsonBody } from '../route.ts';
import { answer, apiKeySchema, listedApiKeySchema } from '../schemas.ts';

const dashboard = { tags: ['API keys'], security: developerSecurity, middleware: authenticated };

const createApiKeyRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/account/api-keys',
  summary: 'Make an API key; its token is shown this once',
  request: { body: jsonBody(createApiKeyInput) },
  responses: {
    201: jsonAnswer('The key', answer({ key: apiKeySchema, warning: z.string() })),
    ...failures(400, 401, 403, 413, 429, 503),
  },
});

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/account/api-keys',
  summary: 'Your API keys, revoked ones too, newest first',
  responses: {
    200: jsonAnswer('The keys', answer({ keys: z.array(listedApiKeySchema) })),
    ...failures(401, 429, 503),
  },
});

const revokeRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/account/api-keys/{id}/revoke',
  summary: 'Revoke an API key for good',
  request: { params: idParam },
  responses: { 200: jsonAnswer('It works no more', answer({})), ...failures(401, 403, 404, 429, 503) },
});

const warning =
  'This key opens the whole account, and is shown only now. Store it where only your program reads it.';

/** The interface writes this one field of a listed key with underscores. */
export const listedApiKey = ({ lastUsedAt, ...key }: ApiKeyView) => ({ ...key, last_used_at: lastUsedAt });

export const apiKeyRoutes = createRouter()
  .openapi(createApiKeyRoute, async (c) => {
    const key = await createApiKey({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, key, warning }, 201);
  })
  .openapi(listRoute, async (c) => {
    const keys = await listApiKeys({ ctx: serviceContext(c) });
    return c.json({ success: true as const, keys: keys.map(listedApiKey) }, 200);
  })
  .openapi(revokeRoute, async (c) => {
    await revokeApiKey({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const }, 200);
  });
