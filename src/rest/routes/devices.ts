import { z } from '@hono/zod-openapi';
import { listDevices } from '../../services/device/list.ts';
import { releaseDevice } from '../../services/device/release.ts';
import { renameDevice, renameDeviceInput } from '../../services/device/rename.ts';
import { serviceContext } from '../adapter.ts';
import { deviceQuery } from '../page-query.ts';
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
  nestedIdParam,
  queuedReadCodes,
} from '../route.ts';
import { answer, deviceSchema, nextCursorSchema } from '../schemas.ts';

const dashboard = { ...forDevelopers, tags: ['Devices'] };
const params = idParam('the license');
const deviceParams = params.extend({ deviceId: nestedIdParam('deviceId', 'the device') });
const deviceAnswer = jsonAnswer('The device after the change', answer({ device: deviceSchema }));

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/licenses/{id}/devices',
  operationId: 'listDevices',
  ...needs('licenses:read'),
  summary: "List a license's devices, newest first",
  description:
    'Devices that are bound, and the newest 100 that were released. `state` selects one of the two. `hwid` is null ' +
    'while only its hash is known, because an offline lease has bound the device.',
  request: { params, query: deviceQuery },
  responses: {
    200: jsonAnswer(
      'A page of devices',
      answer({ devices: z.array(deviceSchema), nextCursor: nextCursorSchema }),
    ),
    ...failures(...queuedReadCodes, 'LICENSE_NOT_FOUND'),
  },
});

const renameRoute = createRoute({
  ...dashboard,
  method: 'patch',
  path: '/licenses/{id}/devices/{deviceId}',
  operationId: 'renameDevice',
  ...needs('licenses:write'),
  summary: 'Give a device another name',
  description: 'Customers who manage their devices see the name. Null removes it.',
  request: { params: deviceParams, body: jsonBody(renameDeviceInput) },
  responses: {
    200: deviceAnswer,
    ...failures(...bodyCodes, 'LICENSE_NOT_FOUND', 'DEVICE_NOT_FOUND'),
  },
});

const releaseRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/licenses/{id}/devices/{deviceId}',
  operationId: 'releaseDevice',
  ...needs('licenses:write'),
  summary: 'Release a device, so that another one can take its place',
  description:
    "The device's next validation is refused with DEVICE_RELEASED. If `selfService` is `off` and the license has room, " +
    'the device is bound again instead, as a new one: ban it to keep it out. INVALID_TRANSITION if it was released ' +
    'already. Offline leases of the license are revoked; its other devices get new ones.',
  request: { params: deviceParams },
  responses: {
    200: deviceAnswer,
    ...failures(...changeCodes, 'LICENSE_NOT_FOUND', 'DEVICE_NOT_FOUND', 'INVALID_TRANSITION'),
  },
});

export const deviceRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const { state, ...page } = c.req.valid('query');
    const input = { licenseId: c.req.valid('param').id, page, filter: { state } };
    const { items, nextCursor } = await listDevices({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, devices: [...items], nextCursor }, 200);
  })
  .openapi(renameRoute, async (c) => {
    const { id: licenseId, deviceId } = c.req.valid('param');
    const input = { licenseId, deviceId, ...c.req.valid('json') };
    const device = await renameDevice({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, device }, 200);
  })
  .openapi(releaseRoute, async (c) => {
    const { id: licenseId, deviceId } = c.req.valid('param');
    const device = await releaseDevice({ ctx: serviceContext(c), input: { licenseId, deviceId } });
    return c.json({ success: true as const, device }, 200);
  });
