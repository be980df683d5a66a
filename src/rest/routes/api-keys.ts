import { z } from '@hono/zod-openapi';
import { apiKeyWarning, createApiKey } from '../../services/api-key/create.ts';
import {
  apiKeyChangeNotEmpty,
  createApiKeyInput,
  rotateApiKeyInput,
  updateApiKeyInput,
} from '../../services/api-key/fields.ts';
import { listApiKeys } from '../../services/api-key/list.ts';
import { keptRevokedKeys, revokeApiKey } from '../../services/api-key/revoke.ts';
import { rotateApiKey } from '../../services/api-key/rotate.ts';
import { updateApiKey } from '../../services/api-key/update.ts';
import { type ApiKeyView, apiKeyView, type IssuedApiKey } from '../../services/api-key/view.ts';
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
  needs,
  readCodes,
} from '../route.ts';
import { answer, apiKeySchema, listedApiKeySchema, nextCursorSchema } from '../schemas.ts';

const dashboard = { ...forDevelopers, tags: ['API keys'] };

const createApiKeyRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/account/api-keys',
  operationId: 'createApiKey',
  ...needs('account:write'),
  summary: 'Create an API key; its token is shown only once',
  description:
    'By default, the key opens the whole account, as a login does. `scopes` say what it may do instead: a name, or ' +
    '`users:*`, `applications:*`, `webhooks:*` and `account:*` for both of theirs. With `applicationId`, it opens only ' +
    'that application, and no scope is for the account. `allowedCidrs` has up to 20 networks from which it may be used. ' +
    'With an API key, you can only give what that key has itself. The service stores only the hash of the token.',
  request: { body: jsonBody(createApiKeyInput) },
  responses: {
    201: jsonAnswer('The key', answer({ key: apiKeySchema, warning: z.string() })),
    ...failures(...bodyCodes, 'CONFIRMATION_REQUIRED', 'APP_NOT_FOUND', 'LIMIT_REACHED'),
  },
});

const updateRoute = createRoute({
  ...dashboard,
  method: 'patch',
  path: '/account/api-keys/{id}',
  operationId: 'updateApiKey',
  ...needs('account:write'),
  summary: "Change an API key's name, scopes, networks or expiry",
  description:
    'Send at least one member; the others stay as they are. It holds from the next request on. With an API key, you ' +
    'cannot change a key that opens more than your key afterwards.',
  request: {
    params: idParam('the API key'),
    body: jsonBody(updateApiKeyInput.refine(apiKeyChangeNotEmpty, 'must have at least one member of a key')),
  },
  responses: {
    200: jsonAnswer('The changed key', answer({ key: listedApiKeySchema })),
    ...failures(...bodyCodes, 'CONFIRMATION_REQUIRED', 'API_KEY_NOT_FOUND', 'INVALID_TRANSITION'),
  },
});

const rotateRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/account/api-keys/{id}/rotate',
  operationId: 'rotateApiKey',
  ...needs('account:write'),
  summary: 'Give an API key a new token, which is shown only once',
  description:
    'The old token stays good for `overlapSeconds`, at most 604,800 (7 days); one that an earlier rotation has replaced ' +
    'ends at once. Id, scopes and expiry stay the same.',
  request: { params: idParam('the API key'), body: jsonBody(rotateApiKeyInput) },
  responses: {
    200: jsonAnswer('The key with its new token', answer({ key: apiKeySchema, warning: z.string() })),
    ...failures(...bodyCodes, 'CONFIRMATION_REQUIRED', 'API_KEY_NOT_FOUND', 'INVALID_TRANSITION'),
  },
});

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/account/api-keys',
  operationId: 'listApiKeys',
  ...needs('account:read'),
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
  ...needs('account:write'),
  summary: 'Revoke an API key permanently',
  description: 'Revoking a revoked key has no effect.',
  request: { params: idParam('the API key') },
  responses: {
    200: jsonAnswer('The key is revoked', answer({})),
    ...failures(...changeCodes, 'API_KEY_NOT_FOUND'),
  },
});

/** The documented API spells this one field in snake case. */
export const listedApiKey = ({ lastUsedAt, scopes, ...key }: ApiKeyView) => ({
  ...key,
  scopes: [...scopes],
  last_used_at: lastUsedAt,
});

const issued = ({ apiKey, key }: IssuedApiKey) => {
  const { lastUsedAt: _, revoked: __, scopes, ...shown } = apiKeyView(key);
  return { key: { ...shown, scopes: [...scopes], apiKey }, warning: apiKeyWarning(key) };
};

export const apiKeyRoutes = createRouter()
  .openapi(createApiKeyRoute, async (c) => {
    const key = await createApiKey({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, ...issued(key) }, 201);
  })
  .openapi(listRoute, async (c) => {
    const input = c.req.valid('query');
    const { items, nextCursor } = await listApiKeys({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, keys: items.map(listedApiKey), nextCursor }, 200);
  })
  .openapi(updateRoute, async (c) => {
    const input = { ...c.req.valid('param'), change: c.req.valid('json') };
    const key = await updateApiKey({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, key: listedApiKey(key) }, 200);
  })
  .openapi(rotateRoute, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    const key = await rotateApiKey({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, ...issued(key) }, 200);
  })
  .openapi(revokeRoute, async (c) => {
    await revokeApiKey({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const }, 200);
  });
