import { z } from '@hono/zod-openapi';
import { beginTotp, beginTotpInput } from '../../services/account/begin-totp.ts';
import { confirmTotp, confirmTotpInput } from '../../services/account/confirm-totp.ts';
import { disableTotp, disableTotpInput } from '../../services/account/disable-totp.ts';
import { renewRecoveryCodes, renewRecoveryCodesInput } from '../../services/account/renew-recovery-codes.ts';
import { getSecurity } from '../../services/account/security.ts';
import {
  setRequireConfirmation,
  setRequireConfirmationInput,
} from '../../services/account/set-require-confirmation.ts';
import { serviceContext } from '../adapter.ts';
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
  queuedReadCodes,
} from '../route.ts';
import { answer, securitySchema } from '../schemas.ts';

const tags = ['Account security'];
const sensitive = { ...limitedForDevelopers('accountSensitive'), tags };
const recoveryCodes = z.array(z.string()).openapi({ description: 'Ten codes. They are shown only once.' });
/** Codes of a change that is proved with the password and a code. */
const provedCodes = [
  ...bodyCodes,
  'INVALID_CREDENTIALS',
  'TOTP_REQUIRED',
  'TOTP_INVALID',
  'INVALID_TRANSITION',
] as const;

const securityRoute = createRoute({
  ...forDevelopers,
  tags,
  method: 'get',
  path: '/account/security',
  operationId: 'getAccountSecurity',
  ...needs('account:read'),
  summary: 'Get how the account is protected besides its password',
  description:
    'Whether TOTP is on, how many recovery codes are left, and whether dangerous acts need a confirmation.',
  responses: {
    200: jsonAnswer('The protection', answer({ security: securitySchema })),
    ...failures(...queuedReadCodes),
  },
});

const beginRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/totp/begin',
  operationId: 'beginTotp',
  ...needs('account:write'),
  summary: 'Begin to turn TOTP on: get a secret for an authenticator app',
  description:
    'Nothing changes until a code of the secret is confirmed. Until then, another call replaces the secret.',
  request: { body: jsonBody(beginTotpInput) },
  responses: {
    200: jsonAnswer(
      'The secret, which is shown only now',
      answer({
        secret: z.string().openapi({ description: 'In base32, to type into the app.' }),
        uri: z.string().openapi({ description: 'The same as an otpauth:// URI, for a QR code.' }),
      }),
    ),
    ...failures(...bodyCodes, 'INVALID_CREDENTIALS', 'INVALID_TRANSITION'),
  },
});

const confirmRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/totp/confirm',
  operationId: 'confirmTotp',
  ...needs('account:write'),
  summary: 'Turn TOTP on, with a code of the new secret',
  description: 'From now on, a login needs a code. API keys are not affected.',
  request: { body: jsonBody(confirmTotpInput) },
  responses: {
    200: jsonAnswer('TOTP is on', answer({ recoveryCodes })),
    ...failures(...bodyCodes, 'TOTP_INVALID', 'INVALID_TRANSITION'),
  },
});

const disableRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/totp/disable',
  operationId: 'disableTotp',
  ...needs('account:write'),
  summary: 'Turn TOTP off',
  description: '`recoveryCode` is used only without `totpCode`. The recovery codes are deleted.',
  request: { body: jsonBody(disableTotpInput) },
  responses: { 200: jsonAnswer('TOTP is off', answer({})), ...failures(...provedCodes) },
});

const renewRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/totp/recovery-codes',
  operationId: 'renewRecoveryCodes',
  ...needs('account:write'),
  summary: 'Replace the recovery codes',
  description: 'The codes before are no longer good.',
  request: { body: jsonBody(renewRecoveryCodesInput) },
  responses: { 200: jsonAnswer('The new codes', answer({ recoveryCodes })), ...failures(...provedCodes) },
});

const requireRoute = createRoute({
  ...sensitive,
  method: 'post',
  path: '/account/require-confirmation',
  operationId: 'setRequireConfirmation',
  ...needs('account:write'),
  summary: 'Set whether dangerous acts by a session need a confirmation',
  description:
    'If it is set, or TOTP is on, these need `POST /auth/confirm` within the ten minutes before: to delete the account, ' +
    'an application, or licenses; to change the email address, the password, the vault or this setting; to create, ' +
    'change or rotate API keys; to create or change webhooks and their secrets; to export data. Requests with an API ' +
    'key need none.',
  request: { body: jsonBody(setRequireConfirmationInput) },
  responses: {
    200: jsonAnswer('The updated setting', answer({ requireConfirmation: z.boolean() })),
    ...failures(...bodyCodes, 'INVALID_CREDENTIALS', 'CONFIRMATION_REQUIRED'),
  },
});

export const accountSecurityRoutes = createRouter()
  .openapi(securityRoute, async (c) => {
    const security = await getSecurity({ ctx: serviceContext(c) });
    return c.json({ success: true as const, security }, 200);
  })
  .openapi(beginRoute, async (c) => {
    const begun = await beginTotp({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, ...begun }, 200);
  })
  .openapi(confirmRoute, async (c) => {
    const codes = await confirmTotp({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, recoveryCodes: [...codes] }, 200);
  })
  .openapi(disableRoute, async (c) => {
    await disableTotp({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const }, 200);
  })
  .openapi(renewRoute, async (c) => {
    const codes = await renewRecoveryCodes({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, recoveryCodes: [...codes] }, 200);
  })
  .openapi(requireRoute, async (c) => {
    const input = c.req.valid('json');
    const requireConfirmation = await setRequireConfirmation({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, requireConfirmation }, 200);
  });
