import { createRoute } from '@hono/zod-openapi';
import { login, loginInput } from '../../services/auth/login.ts';
import { me } from '../../services/auth/me.ts';
import { register, registerInput } from '../../services/auth/register.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { rateLimit } from '../middleware/rate-limit.ts';
import { clearedSessionCookie, sessionCookie } from '../middleware/session-cookie.ts';
import { createRouter, developerSecurity, failures, jsonAnswer, jsonBody } from '../route.ts';
import { answer, developerSchema } from '../schemas.ts';

const tags = ['Developer account'];
const developerAnswer = answer({ developer: developerSchema });

const registerRoute = createRoute({
  method: 'post',
  path: '/auth/register',
  tags,
  summary: 'Make a developer account and log in',
  middleware: rateLimit('auth'),
  request: { body: jsonBody(registerInput) },
  responses: {
    201: jsonAnswer('The account; the session cookie is set', developerAnswer),
    ...failures(400, 409, 413, 429, 503),
  },
});

const loginRoute = createRoute({
  method: 'post',
  path: '/auth/login',
  tags,
  summary: 'Log in to the dashboard',
  middleware: rateLimit('auth'),
  request: { body: jsonBody(loginInput) },
  responses: {
    200: jsonAnswer('The account; the session cookie is set', developerAnswer),
    ...failures(400, 401, 413, 429, 503),
  },
});

const logoutRoute = createRoute({
  method: 'post',
  path: '/auth/logout',
  tags,
  summary: 'Clear the session cookie',
  responses: { 200: jsonAnswer('The session cookie is cleared', answer({})), ...failures(403) },
});

const meRoute = createRoute({
  method: 'get',
  path: '/auth/me',
  tags,
  summary: 'The developer who asks',
  security: developerSecurity,
  middleware: authenticated,
  responses: { 200: jsonAnswer('The account', developerAnswer), ...failures(401, 429, 503) },
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
  .openapi(logoutRoute, (c) => {
    c.header('Set-Cookie', clearedSessionCookie(c.get('env').settings.publicUrl));
    return c.json({ success: true as const }, 200);
  })
  .openapi(meRoute, async (c) => {
    const developer = await me({ ctx: serviceContext(c) });
    return c.json({ success: true as const, developer }, 200);
  });
