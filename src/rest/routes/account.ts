import { createRoute, z } from '@hono/zod-openapi';
import { deleteAccount, deleteAccountInput } from '../../services/account/delete.ts';
import { exportAccount } from '../../services/account/export.ts';
import { setMask, setMaskInput } from '../../services/account/set-mask.ts';
import { setMode, setModeInput } from '../../services/account/set-mode.ts';
import { setVault, setVaultInput } from '../../services/account/set-vault.ts';
import { updateProfile, updateProfileInput } from '../../services/account/update-profile.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { rateLimit } from '../middleware/rate-limit.ts';
import { clearedSessionCookie, sessionCookie } from '../middleware/session-cookie.ts';
import { createRouter, developerSecurity, failures, jsonAnswer, jsonBody } from '../route.ts';
import { accountExportSchema, answer, developerSchema } from '../schemas.ts';
import { listedApiKey } from './api-keys.ts';

const sensitive = {
  tags: ['Account'],
  security: developerSecurity,
  middleware: [rateLimit('accountSensitive'), authenticated],
};
const changeFailures = failures(400, 401, 403, 413, 429, 503);

const maskRoute = createRoute({
  ...sensitive,
  middleware: authenticated,
  method: 'post',
  path: '/account/mask',
  summary: "Set the account's default license key mask; null for the service's own",
  request: { body: jsonBody(setMaskInput) },
  responses: {
    200: jsonAnswer('The mask as it is now', answer({ mask: z.string().nullable() })),
    ...changeFailures,
  },
});

const modeRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/mode',
  summary: 'Switch where license keys are made',
  request: { body: jsonBody(setModeInput) },
  responses: {
    200: jsonAnswer('The mode as it is now', answer({ mode: z.enum(['default', 'private']) })),
    ...changeFailures,
  },
});

const vaultRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/vault',
  summary: 'Store what a browser needs to unlock the notes of private mode',
  request: { body: jsonBody(setVaultInput) },
  responses: {
    200: jsonAnswer(
      'The check fields',
      answer({ vault: z.object({ vaultSaltB64: z.string(), vaultCheckB64: z.string() }) }),
    ),
    ...changeFailures,
  },
});

const profileRoute = createRoute({
  ...sensitive,
  method: 'patch',
  path: '/account/profile',
  summary: 'Change your name, address or password; a new password ends older sessions',
  request: { body: jsonBody(updateProfileInput) },
  responses: {
    200: jsonAnswer('The account as it is now', answer({ developer: developerSchema })),
    ...changeFailures,
    ...failures(409),
  },
});

const exportRoute = createRoute({
  ...sensitive,
  method: 'get',
  path: '/account/export',
  summary: 'All that is kept of your account',
  responses: {
    200: jsonAnswer('The export', answer({ export: accountExportSchema })),
    ...failures(401, 429, 503),
  },
});

const deleteRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/delete',
  summary: 'Delete the account with everything that is its own',
  request: { body: jsonBody(deleteAccountInput) },
  responses: { 200: jsonAnswer('It is gone; the session cookie is cleared', answer({})), ...changeFailures },
});

export const accountRoutes = createRouter()
  .openapi(maskRoute, async (c) => {
    const mask = await setMask({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, mask }, 200);
  })
  .openapi(modeRoute, async (c) => {
    const mode = await setMode({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, mode }, 200);
  })
  .openapi(vaultRoute, async (c) => {
    const vault = await setVault({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, vault }, 200);
  })
  .openapi(profileRoute, async (c) => {
    const { developer, cookieToken } = await updateProfile({
      ctx: serviceContext(c),
      input: c.req.valid('json'),
    });
    // Whoever is logged in by cookie stays so; an API key has no cookie to renew.
    const byCookie = serviceContext(c).actor;
    if (cookieToken !== null && byCookie.type === 'developer' && byCookie.via === 'cookie') {
      c.header('Set-Cookie', sessionCookie(cookieToken, c.get('env').settings.publicUrl));
    }
    return c.json({ success: true as const, developer }, 200);
  })
  .openapi(exportRoute, async (c) => {
    const { apiKeys, ...exported } = await exportAccount({ ctx: serviceContext(c) });
    return c.json(
      { success: true as const, export: { ...exported, apiKeys: apiKeys.map(listedApiKey) } },
      200,
    );
  })
  .openapi(deleteRoute, async (c) => {
    await deleteAccount({ ctx: serviceContext(c), input: c.req.valid('json') });
    c.header('Set-Cookie', clearedSessionCookie(c.get('env').settings.publicUrl));
    return c.json({ success: true as const }, 200);
  });
