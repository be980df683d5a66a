import { z } from '@hono/zod-openapi';
import { deleteBan } from '../../services/ban/delete.ts';
import { listBans } from '../../services/ban/list.ts';
import { serviceContext } from '../adapter.ts';
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
  nestedIdParam,
  readCodes,
} from '../route.ts';
import { answer, banSchema, nextCursorSchema } from '../schemas.ts';

const dashboard = { ...forDevelopers, tags: ['Bans'] };
const params = idParam('the application');

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/bans',
  operationId: 'listBans',
  ...needs('licenses:read'),
  summary: "List an application's banned devices and IP addresses, newest first",
  description: `Banning a license with scope \`hwid\` or \`hwid_and_ip\` creates these bans. Banned licenses are not listed here. ${listNote}`,
  request: { params, query: listQuery },
  responses: {
    200: jsonAnswer('The bans', answer({ bans: z.array(banSchema), nextCursor: nextCursorSchema })),
    ...failures(...readCodes, 'APP_NOT_FOUND'),
  },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/apps/{id}/bans/{banId}',
  operationId: 'deleteBan',
  ...needs('licenses:write'),
  summary: 'Lift a ban; the license whose ban created it stays banned',
  description: 'The device or IP address can use the application again, with another license.',
  request: {
    params: params.extend({ banId: nestedIdParam('banId', 'the ban') }),
  },
  responses: {
    200: jsonAnswer('The ban is lifted', answer({})),
    ...failures(...changeCodes, 'APP_NOT_FOUND', 'BAN_NOT_FOUND'),
  },
});

export const banRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const input = { applicationId: c.req.valid('param').id, list: c.req.valid('query') };
    const { items, nextCursor } = await listBans({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, bans: [...items], nextCursor }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    const { id: applicationId, banId } = c.req.valid('param');
    await deleteBan({ ctx: serviceContext(c), input: { applicationId, banId } });
    return c.json({ success: true as const }, 200);
  });
