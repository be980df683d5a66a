import { confirmSession, confirmSessionInput } from '../../services/account/confirm-session.ts';
import { login, loginInput } from '../../services/auth/login.ts';
import { logout } from '../../services/auth/logout.ts';
import { me } from '../../services/auth/me.ts';
import { register, registerInput } from '../../services/auth/register.ts';
import { serviceContext } from '../adapter.ts';
import { boundedJson } from '../middleware/bounded-json.ts';
import { clearedSessionCookie, readSessionCookie, sessionCookie } from '../middleware/session-cookie.ts';
import {
  bodyCodes,
  createRoute,
  createRouter,
  failures,
  forDevelopers,
  jsonAnswer,
  jsonBody,
  limitedForAll,
  limitedForDevelopers,
  needs,
  publicCodes,
  readCodes,
} from '../route.ts';
import { answer, developerSchema, timestamp } from '../schemas.ts';

const tags = ['Developer account'];
const developerAnswer = answer({ developer: developerSchema });

const registerRoute = createRoute({
  ...limitedForAll('auth'),
  operationId: 'registerDeveloper',
  method: 'post',
  path: '/auth/register',
  tags,
  summary: 'Create a developer account and log in',
  description:
    '`turnstileToken` is required if the operator has enabled the bot challenge, and ignored otherwise. If the ' +
    'operator has closed registration, the response is REGISTRATION_CLOSED.',
  request: { body: jsonBody(registerInput) },
  responses: {
    201: jsonAnswer('The account; the session cookie is set', developerAnswer),
    ...failures(...publicCodes, 'BOT_CHALLENGE_FAILED', 'EMAIL_TAKEN', 'REGISTRATION_CLOSED'),
  },
});

const loginRoute = createRoute({
  ...limitedForAll('auth'),
  operationId: 'loginDeveloper',
  method: 'post',
  path: '/auth/login',
  tags,
  summary: 'Log in to the dashboard',
  description:
    'An unknown email address and a wrong password return the same error. If the account has TOTP on, the right password ' +
    'without `totpCode` or `recoveryCode` returns TOTP_REQUIRED. Each code is good once, and after five wrong TOTP codes ' +
    'within fifteen minutes the account accepts only recovery codes (RATE_LIMITED). `recoveryCode` is used only without ' +
    '`totpCode`; without TOTP, both are ignored.',
  request: { body: jsonBody(loginInput) },
  responses: {
    200: jsonAnswer('The account; the session cookie is set', developerAnswer),
    ...failures(
      ...publicCodes,
      'BOT_CHALLENGE_FAILED',
      'INVALID_CREDENTIALS',
      'TOTP_REQUIRED',
      'TOTP_INVALID',
    ),
  },
});

const logoutRoute = createRoute({
  operationId: 'logoutDeveloper',
  security: [],
  middleware: [...boundedJson],
  method: 'post',
  path: '/auth/logout',
  tags,
  summary: 'End the session and clear its cookie',
  description: 'Succeeds without a session too.',
  responses: {
    200: jsonAnswer('The session cookie is cleared', answer({})),
    ...failures('VALIDATION_FAILED', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'INTERNAL'),
  },
});

const confirmRoute = createRoute({
  ...limitedForDevelopers('accountSensitive'),
  operationId: 'confirmSession',
  ...needs('account:write'),
  method: 'post',
  path: '/auth/confirm',
  tags,
  summary: 'Confirm the session with the password, for ten minutes',
  description:
    'Some acts need it (CONFIRMATION_REQUIRED), if the account has TOTP on or requires confirmations. If TOTP is on, ' +
    '`totpCode` or `recoveryCode` is needed too. A request with an API key is refused with FORBIDDEN: it needs none.',
  request: { body: jsonBody(confirmSessionInput) },
  responses: {
    200: jsonAnswer('When the confirmation ends', answer({ confirmedUntil: timestamp })),
    ...failures(...bodyCodes, 'INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'TOTP_INVALID'),
  },
});

const meRoute = createRoute({
  ...forDevelopers,
  operationId: 'getCurrentDeveloper',
  ...needs('account:read'),
  method: 'get',
  path: '/auth/me',
  tags,
  summary: 'Get the authenticated developer',
  description: 'The owner of the session or API key.',
  responses: { 200: jsonAnswer('The account', developerAnswer), ...failures(...readCodes) },
});

export const authRoutes = createRouter()
  .openapi(registerRoute, async (c) => {
    const { developer, cookieToken } = await register({ ctx: serviceContext(c), input: c.req.valid('json') });
    c.header('Set-Cookie', sessionCookie(cookieToken, c.get('env').settings.publicUrl));
    return c.json({ success: true as const, developer }, 201);
  })
  .openapi(loginRoute, async (c) => {
    const { developer, cookieToken } = await login({ ctx: serviceContext(c), input: c.req.valid('json') });
    c.header('Set-Cookie', sessionCookie(cookieToken, c.get('env').settings.publicUrl));
    return c.json({ success: true as const, developer }, 200);
  })
  .openapi(logoutRoute, async (c) => {
    await logout({ ctx: serviceContext(c), input: { cookie: readSessionCookie(c) } });
    c.header('Set-Cookie', clearedSessionCookie(c.get('env').settings.publicUrl));
    return c.json({ success: true as const }, 200);
  })
  .openapi(confirmRoute, async (c) => {
    const confirmedUntil = await confirmSession({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, confirmedUntil }, 200);
  })
  .openapi(meRoute, async (c) => {
    const developer = await me({ ctx: serviceContext(c) });
    return c.json({ success: true as const, developer }, 200);
  });
