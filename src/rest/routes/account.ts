import { z } from '@hono/zod-openapi';
import { deleteAccount, deleteAccountInput } from '../../services/account/delete.ts';
import { exportAccount } from '../../services/account/export.ts';
import { setMask, setMaskInput } from '../../services/account/set-mask.ts';
import { setMode, setModeInput } from '../../services/account/set-mode.ts';
import { setVault, setVaultInput } from '../../services/account/set-vault.ts';
import { updateProfile, updateProfileInput } from '../../services/account/update-profile.ts';
import { mapPages } from '../../services/export-pages.ts';
import { serviceContext } from '../adapter.ts';
import { exportAnswer } from '../export-answer.ts';
import { clearedSessionCookie, sessionCookie } from '../middleware/session-cookie.ts';
import {
  bodyCodes,
  createRoute,
  createRouter,
  failures,
  forDevelopers,
  jsonAnswer,
  jsonBody,
  limitedForDevelopers,
  needs,
  readCodes,
} from '../route.ts';
import { accountExportSchema, answer, developerSchema } from '../schemas.ts';
import { listedApiKey } from './api-keys.ts';

const tags = ['Account'];
const sensitive = { ...limitedForDevelopers('accountSensitive'), tags };
const passwordFailures = failures(...bodyCodes, 'INVALID_CREDENTIALS');

const maskRoute = createRoute({
  ...forDevelopers,
  tags,
  method: 'post',
  path: '/account/mask',
  operationId: 'setLicenseMask',
  ...needs('account:write'),
  summary: "Set the account's default license key mask; null for the service's default",
  description:
    'The mask of license keys that are created without one. Each `X` becomes a random character; at least 8 are required.',
  request: { body: jsonBody(setMaskInput) },
  responses: {
    200: jsonAnswer('The updated mask', answer({ mask: z.string().nullable() })),
    ...failures(...bodyCodes),
  },
});

const modeRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/mode',
  operationId: 'setKeyCreationMode',
  ...needs('account:write'),
  summary: 'Set where license keys are generated',
  description:
    '`default`: the service generates keys. `private`: the browser generates them, and the service only receives hashes.',
  request: { body: jsonBody(setModeInput) },
  responses: {
    200: jsonAnswer('The updated mode', answer({ mode: z.enum(['default', 'private']) })),
    ...passwordFailures,
  },
});

const vaultRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/vault',
  operationId: 'setVault',
  ...needs('account:write'),
  summary: 'Store what a browser needs to unlock the notes of private mode',
  description: 'The service never receives the passphrase or the key derived from it.',
  request: { body: jsonBody(setVaultInput) },
  responses: {
    200: jsonAnswer(
      'The check fields',
      answer({ vault: z.object({ vaultSaltB64: z.string(), vaultCheckB64: z.string() }) }),
    ),
    ...failures(...bodyCodes, 'INVALID_CREDENTIALS', 'CONFIRMATION_REQUIRED'),
  },
});

const profileRoute = createRoute({
  ...sensitive,
  method: 'patch',
  path: '/account/profile',
  operationId: 'updateProfile',
  ...needs('account:write'),
  summary: 'Change your name, email address or password; a new password ends older sessions',
  description:
    '`password` is the current password. After a password change, the current session continues with a new cookie.',
  request: { body: jsonBody(updateProfileInput) },
  responses: {
    200: jsonAnswer('The updated account', answer({ developer: developerSchema })),
    ...failures(...bodyCodes, 'INVALID_CREDENTIALS', 'CONFIRMATION_REQUIRED', 'EMAIL_TAKEN'),
  },
});

const exportRoute = createRoute({
  ...sensitive,
  method: 'get',
  path: '/account/export',
  operationId: 'exportAccount',
  ...needs('account:read', 'applications:read', 'licenses:read', 'users:read', 'logs:read', 'webhooks:read'),
  summary: "Export all of your account's data",
  description:
    'License keys, passwords and API keys are not included: the service stores only their hashes. The response is ' +
    'streamed; if an error occurs midway, the connection is closed and the JSON is incomplete.',
  responses: {
    200: jsonAnswer('The export', answer({ export: accountExportSchema })),
    ...failures(...readCodes, 'CONFIRMATION_REQUIRED', 'TOO_MANY_EXPORTS'),
  },
});

const deleteRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/delete',
  operationId: 'deleteAccount',
  ...needs('account:write'),
  summary: 'Delete the account and all of its data',
  description: 'This cannot be undone. Applications, licenses, end users and the log are deleted too.',
  request: { body: jsonBody(deleteAccountInput) },
  responses: {
    200: jsonAnswer('The account is deleted; the session cookie is cleared', answer({})),
    ...failures(...bodyCodes, 'INVALID_CREDENTIALS', 'CONFIRMATION_REQUIRED'),
  },
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
    if (cookieToken !== null) {
      c.header('Set-Cookie', sessionCookie(cookieToken, c.get('env').settings.publicUrl));
    }
    return c.json({ success: true as const, developer }, 200);
  })
  .openapi(exportRoute, async (c) => {
    return exportAnswer(c, async () => {
      const { apiKeys, ...exported } = await exportAccount({ ctx: serviceContext(c) });
      return { ...exported, apiKeys: mapPages(apiKeys, listedApiKey) };
    });
  })
  .openapi(deleteRoute, async (c) => {
    await deleteAccount({ ctx: serviceContext(c), input: c.req.valid('json') });
    c.header('Set-Cookie', clearedSessionCookie(c.get('env').settings.publicUrl));
    return c.json({ success: true as const }, 200);
  });
