import { z } from '@hono/zod-openapi';
import { getLicense } from '../../services/license/get.ts';
import { reinstateLicense } from '../../services/license/reinstate.ts';
import { renewLicense, renewLicenseInput } from '../../services/license/renew.ts';
import { rotateKeyInput, rotateLicenseKey } from '../../services/license/rotate-key.ts';
import { suspendLicense, suspendLicenseInput } from '../../services/license/suspend.ts';
import { unbanLicense, unbanLicenseInput } from '../../services/license/unban.ts';
import { updateLicense, updateLicenseInput } from '../../services/license/update.ts';
import { serviceContext } from '../adapter.ts';
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
  limitedForDevelopers,
  needs,
  queuedReadCodes,
} from '../route.ts';
import { answer, licenseSchema, seenLicenseSchema } from '../schemas.ts';

const tags = ['Licenses'];
const dashboard = { ...forDevelopers, tags };
const params = idParam('the license');
const updated = jsonAnswer('The updated license', answer({ license: licenseSchema }));

const getRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/licenses/{id}',
  operationId: 'getLicense',
  ...needs('licenses:read'),
  summary: 'Get a license',
  description:
    'As in the list of its application. Its key is not included: the service stores only the hash.',
  request: { params },
  responses: {
    200: jsonAnswer('The license', answer({ license: seenLicenseSchema })),
    ...failures(...queuedReadCodes, 'LICENSE_NOT_FOUND'),
  },
});

const updateRoute = createRoute({
  ...dashboard,
  method: 'patch',
  path: '/licenses/{id}',
  operationId: 'updateLicense',
  ...needs('licenses:write'),
  summary: 'Change a license',
  description:
    'Send at least one member; the others stay as they are. `entitlements`, `metadata` and `tags` are replaced as a ' +
    'whole. `expiresAt` is INVALID_TRANSITION while the term has not started, and null makes the license unlimited. If it ' +
    'then ends earlier than before, its leases are revoked; other changes reach programs with their next validation or ' +
    'lease. A lower `deviceLimit` releases no device. In private mode, send `noteCiphertextB64` instead of `note`.',
  request: { params, body: jsonBody(updateLicenseInput) },
  responses: {
    200: updated,
    ...failures(...bodyCodes, 'LICENSE_NOT_FOUND', 'INVALID_TRANSITION', 'PRIVATE_MODE'),
  },
});

const unbanRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/{id}/unban',
  operationId: 'unbanLicense',
  ...needs('licenses:write'),
  summary: 'Lift the ban of a license',
  description:
    'The license is unused or active again, or suspended if it was. With `removeBans`, the bans of devices and addresses ' +
    'that banning this license made are lifted, too. The body may be left out.',
  request: { params, body: { content: { 'application/json': { schema: unbanLicenseInput } } } },
  responses: { 200: updated, ...failures(...bodyCodes, 'LICENSE_NOT_FOUND', 'INVALID_TRANSITION') },
});

const suspendRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/{id}/suspend',
  operationId: 'suspendLicense',
  ...needs('licenses:write'),
  summary: 'Suspend a license until it is reinstated',
  description:
    'Its verdict is SUSPENDED, and its leases are revoked. With `stopClock`, it keeps the remaining term. `reason` is a note ' +
    'for you, which customers are not told. The body may be left out. INVALID_TRANSITION if it is suspended or banned.',
  request: { params, body: { content: { 'application/json': { schema: suspendLicenseInput } } } },
  responses: { 200: updated, ...failures(...bodyCodes, 'LICENSE_NOT_FOUND', 'INVALID_TRANSITION') },
});

const reinstateRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/{id}/reinstate',
  operationId: 'reinstateLicense',
  ...needs('licenses:write'),
  summary: 'End the suspension of a license',
  description:
    'If the suspension keeps the remaining term, `expiresAt` moves by exactly as long as it lasted. INVALID_TRANSITION if ' +
    'the license is not suspended, or is banned.',
  request: { params },
  responses: { 200: updated, ...failures(...changeCodes, 'LICENSE_NOT_FOUND', 'INVALID_TRANSITION') },
});

const renewRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/{id}/renew',
  operationId: 'renewLicense',
  ...needs('licenses:write'),
  summary: 'Renew a license, also one that has expired',
  description:
    'The new expiry is `seconds` after the old one (`from_expiry`), after now (`from_now`), or after now only if the ' +
    'license has expired (`from_now_if_expired`). An unused license has no expiry yet: its `durationSeconds` grows. If ' +
    '`from_now` makes it end earlier than before, its leases are revoked. INVALID_TRANSITION if it is banned or never ' +
    'expires; VALIDATION_FAILED if it would expire after 9999-12-31T23:59:59Z.',
  request: { params, body: jsonBody(renewLicenseInput) },
  responses: { 200: updated, ...failures(...bodyCodes, 'LICENSE_NOT_FOUND', 'INVALID_TRANSITION') },
});

const rotateKeyRoute = createRoute({
  ...limitedForDevelopers('licenseCreate'),
  tags,
  method: 'post',
  path: '/licenses/{id}/rotate-key',
  operationId: 'rotateLicenseKey',
  ...needs('licenses:mint'),
  summary: 'Give a license a new key; it is shown only once',
  description:
    'The old key stays good for `overlapSeconds`, and never past the expiry. With 0 it ends at once, and the leases of the ' +
    'license are revoked. `mask` is as for new licenses. To generate the key yourself, which private mode requires, send ' +
    '`licenseKeyHash` and `licenseKeyPrefix`: `licenseKey` is then null.',
  request: { params, body: jsonBody(rotateKeyInput) },
  responses: {
    200: jsonAnswer(
      'The new key, and the license',
      answer({
        licenseKey: z.string().nullable().openapi({
          description: 'The new key in plain text, shown only once; null if you have generated it.',
        }),
        license: licenseSchema,
      }),
    ),
    ...failures(...bodyCodes, 'LICENSE_NOT_FOUND', 'PRIVATE_MODE', 'KEY_EXISTS'),
  },
});

export const licenseLifeRoutes = createRouter()
  .openapi(getRoute, async (c) => {
    const license = await getLicense({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const, license }, 200);
  })
  .openapi(updateRoute, async (c) => {
    const input = { ...c.req.valid('param'), changes: c.req.valid('json') };
    const license = await updateLicense({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, license }, 200);
  })
  .openapi(unbanRoute, async (c) => {
    const input = { ...c.req.valid('param'), unban: c.req.valid('json') ?? {} };
    const license = await unbanLicense({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, license }, 200);
  })
  .openapi(suspendRoute, async (c) => {
    const input = { ...c.req.valid('param'), suspension: c.req.valid('json') ?? {} };
    const license = await suspendLicense({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, license }, 200);
  })
  .openapi(reinstateRoute, async (c) => {
    const license = await reinstateLicense({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const, license }, 200);
  })
  .openapi(renewRoute, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    const license = await renewLicense({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, license }, 200);
  })
  .openapi(rotateKeyRoute, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    const rotated = await rotateLicenseKey({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, ...rotated }, 200);
  });
