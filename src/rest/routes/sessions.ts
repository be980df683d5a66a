import { z } from '@hono/zod-openapi';
import { listAccountSessions } from '../../services/account-session/list.ts';
import { revokeSession } from '../../services/account-session/revoke.ts';
import { revokeOtherSessions } from '../../services/account-session/revoke-others.ts';
import { serviceContext } from '../adapter.ts';
import { sessionCookie } from '../middleware/session-cookie.ts';
import { listNote, listQuery } from '../page-query.ts';
import {
  changeCodes,
  createRoute,
  createRouter,
  failures,
  forDevelopers,
  idParam,
  jsonAnswer,
  needs,
  queuedReadCodes,
} from '../route.ts';
import { accountSessionSchema, answer, nextCursorSchema } from '../schemas.ts';

const dashboard = { ...forDevelopers, tags: ['Sessions'] };

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/account/sessions',
  operationId: 'listSessions',
  ...needs('account:read'),
  summary: 'List your sessions of the dashboard, newest first',
  description: `Where and when someone logged in to your account, and when each session was last seen. ${listNote}`,
  request: { query: listQuery },
  responses: {
    200: jsonAnswer(
      'The sessions',
      answer({ sessions: z.array(accountSessionSchema), nextCursor: nextCursorSchema }),
    ),
    ...failures(...queuedReadCodes),
  },
});

const revokeRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/account/sessions/{id}',
  operationId: 'revokeSession',
  ...needs('account:write'),
  summary: 'End a session',
  description: 'Its cookie is refused from now on, and its open streams end. It may be the current session.',
  request: { params: idParam('the session') },
  responses: {
    200: jsonAnswer('The session has ended', answer({})),
    ...failures(...changeCodes, 'SESSION_NOT_FOUND'),
  },
});

const revokeOthersRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/account/sessions/revoke-others',
  operationId: 'revokeOtherSessions',
  ...needs('account:write'),
  summary: 'End all sessions except the current one',
  description:
    'With an API key, all sessions end. Cookies from before the service had sessions, which are not listed, end too; if ' +
    'the request came with one, the response sets a new cookie.',
  responses: {
    200: jsonAnswer(
      'The number of listed sessions that were ended',
      answer({ revoked: z.int().openapi({ example: 2 }) }),
    ),
    ...failures(...changeCodes),
  },
});

export const sessionRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const input = c.req.valid('query');
    const { items, nextCursor } = await listAccountSessions({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, sessions: [...items], nextCursor }, 200);
  })
  .openapi(revokeRoute, async (c) => {
    await revokeSession({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const }, 200);
  })
  .openapi(revokeOthersRoute, async (c) => {
    const { revoked, cookieToken } = await revokeOtherSessions({ ctx: serviceContext(c) });
    if (cookieToken !== null) {
      c.header('Set-Cookie', sessionCookie(cookieToken, c.get('env').settings.publicUrl));
    }
    return c.json({ success: true as const, revoked }, 200);
  });
