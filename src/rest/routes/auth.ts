import { login, loginInput } from '../../services/auth/login.ts';
import { logout } from '../../services/auth/logout.ts';
import { me } from '../../services/auth/me.ts';
import { register, registerInput } from '../../services/auth/register.ts';
import { serviceContext } from '../adapter.ts';
import { boundedJson } from '../middleware/bounded-json.ts';
import { clearedSessionCookie, readSessionCookie, sessionCookie } from '../middleware/session-cookie.ts';
import {
  createRoute,
  createRouter,
  failures,
  forDevelopers,
  jsonAnswer,
  jsonBody,
  limitedForAll,
  publicCodes,
  readCodes,
} from '../route.ts';
import { answer, developerSchema } from '../schemas.ts';

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
  description: 'An unknown email address and a wrong password return the same error.',
  request: { body: jsonBody(loginInput) },
  responses: {
    200: jsonAnswer('The account; the session cookie is set', developerAnswer),
    ...failures(...publicCodes, 'BOT_CHALLENGE_FAILED', 'INVALID_CREDENTIALS'),
  },
});

const logoutRoute = createRoute({
  operationId: 'logoutDeveloper',
  security: [],
  middleware: [...boundedJson],
  method: 'post',
  path: '/auth/logout',
  tags,
  summary: 'Clear the session cookie',
  description: 'Succeeds without a session too.',
  responses: {
    200: jsonAnswer('The session cookie is cleared', answer({})),
    ...failures('VALIDATION_FAILED', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'INTERNAL'),
  },
});

const meRoute = createRoute({
  ...forDevelopers,
  operationId: 'getCurrentDeveloper',
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
  .openapi(meRoute, async (c) => {
    const developer = await me({ ctx: serviceContext(c) });
    return c.json({ success: true as const, developer }, 200);
  });
