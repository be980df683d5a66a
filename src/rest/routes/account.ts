import { createRoute, z } from '@hono/zod-openapi';
import { createApiKey, createApiKeyInput } from '../../services/api-key/create.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { createRouter, developerSecurity, failures, jsonAnswer, jsonBody } from '../route.ts';
import { answer, apiKeySchema } from '../schemas.ts';

const createApiKeyRoute = createRoute({
  method: 'post',
  path: '/account/api-keys',
  tags: ['API keys'],
  summary: 'Make an API key; its token is shown this once',
  security: developerSecurity,
  middleware: authenticated,
  request: { body: jsonBody(createApiKeyInput) },
  responses: {
    201: jsonAnswer('The key', answer({ key: apiKeySchema, warning: z.string() })),
    ...failures(400, 401, 403, 413, 429, 503),
  },
});

const warning =
  'This key opens the whole account, and is shown only now. Store it where only your program reads it.';

export const accountRoutes = createRouter().openapi(createApiKeyRoute, async (c) => {
  const key = await createApiKey({ ctx: serviceContext(c), input: c.req.valid('json') });
  return c.json({ success: true as const, key, warning }, 201);
});
