import { z } from '@hono/zod-openapi';
import { banLicense, banLicenseInput } from '../../services/license/ban.ts';
import { createLicenses, createLicensesInput } from '../../services/license/create.ts';
import { createBlindInput, createBlindLicenses } from '../../services/license/create-blind.ts';
import { deleteLicense } from '../../services/license/delete.ts';
import { extendLicenses, extendLicensesInput } from '../../services/license/extend.ts';
import { listLicenses } from '../../services/license/list.ts';
import { resetLicenseHwid } from '../../services/license/reset-hwid.ts';
import { setTier, setTierInput } from '../../services/license/set-tier.ts';
import { serviceContext } from '../adapter.ts';
import { pageQuery } from '../page-query.ts';
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
  searchCodes,
} from '../route.ts';
import { answer, blindLicenseSchema, licenseSchema, mintedLicenseSchema } from '../schemas.ts';

const tags = ['Licenses'];
const dashboard = { ...forDevelopers, tags };
const params = idParam('the license');
const applicationParams = idParam('the application');
const licenseAnswer = jsonAnswer('The license as it is now', answer({ license: licenseSchema }));

const createLicensesRoute = createRoute({
  ...limitedForDevelopers('licenseCreate'),
  tags,
  method: 'post',
  path: '/licenses/create',
  operationId: 'createLicenses',
  summary: 'Mint license keys; they are shown this once',
  description:
    'An `X` of `mask` is a random character, anything else stands for itself. `durationSeconds` counts ' +
    'from first use; 0 never ends. `warning` says that the keys cannot be recovered, and when the mask is ' +
    'short. In private mode the answer is PRIVATE_MODE: mint in the browser, and send the hashes to ' +
    '`/licenses/create-blind`. RATE_LIMITED is also the answer when your account has created too many ' +
    'licenses in a minute; `error` says how many are left.',
  request: { body: jsonBody(createLicensesInput) },
  responses: {
    201: jsonAnswer('The keys', answer({ keys: z.array(mintedLicenseSchema), warning: z.string() })),
    ...failures(...changeCodes, ...bodyCodes, 'APP_NOT_FOUND', 'PRIVATE_MODE'),
  },
});

const createBlindRoute = createRoute({
  ...limitedForDevelopers('blindCreate'),
  tags,
  method: 'post',
  path: '/licenses/create-blind',
  operationId: 'createBlindLicenses',
  summary: 'Store licenses whose keys the browser has minted: all or none',
  description:
    'The service never sees the keys. Works in both modes. KEY_EXISTS names the keys that exist already ' +
    'in `issues`. RATE_LIMITED is also the answer when your account has created too many licenses in a ' +
    'minute; `error` says how many are left.',
  request: { body: jsonBody(createBlindInput) },
  responses: {
    201: jsonAnswer('The licenses', answer({ keys: z.array(blindLicenseSchema) })),
    ...failures(...changeCodes, ...bodyCodes, 'APP_NOT_FOUND', 'KEY_EXISTS'),
  },
});

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/licenses',
  operationId: 'listLicenses',
  summary: 'Licenses of an application, newest first',
  description:
    'Keys are not part of it: the service has their hashes alone. `q` searches key prefixes, notes, HWIDs and last ' +
    'addresses, and a whole key finds its license.',
  request: { params: applicationParams, query: pageQuery },
  responses: {
    200: jsonAnswer(
      'A page of licenses',
      answer({ licenses: z.array(licenseSchema), nextCursor: z.string().nullable() }),
    ),
    ...failures(...searchCodes, 'APP_NOT_FOUND'),
  },
});

const extendRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/licenses/extend',
  operationId: 'extendLicenses',
  summary: 'Give every active license that has an end more time',
  description:
    'Licenses that were never used, never end or are banned stay as they are. None can end after ' +
    '9999-12-31T23:59:59Z: VALIDATION_FAILED says when one would, and none is extended then.',
  request: { params: applicationParams, body: jsonBody(extendLicensesInput) },
  responses: {
    200: jsonAnswer('How many there were', answer({ extended: z.int() })),
    ...failures(...changeCodes, ...bodyCodes, 'APP_NOT_FOUND'),
  },
});

const banRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/{id}/ban',
  operationId: 'banLicense',
  summary: 'Ban a license, and with it its device and address if you like',
  description:
    'Without a body the license alone is banned. `hwid` also bans the device that it is bound to ' +
    '(HWID_NOT_SET without one); `hwid_and_ip` also bans the address: `ip`, or else the last one it was ' +
    'used from (IP_NOT_KNOWN without one).',
  request: { params, body: { content: { 'application/json': { schema: banLicenseInput } } } },
  responses: {
    200: licenseAnswer,
    ...failures(
      ...changeCodes,
      ...bodyCodes,
      'LICENSE_NOT_FOUND',
      'HWID_NOT_SET',
      'IP_NOT_KNOWN',
      'LIMIT_REACHED',
    ),
  },
});

const tierContract = {
  ...dashboard,
  path: '/licenses/{id}/tier',
  summary: "Set a license's tier",
  request: { params, body: jsonBody(setTierInput) },
  responses: {
    200: jsonAnswer('The tier as it is now', answer({ subscriptionTier: z.int() })),
    ...failures(...changeCodes, ...bodyCodes, 'LICENSE_NOT_FOUND'),
  },
};
const postTierRoute = createRoute({
  ...tierContract,
  method: 'post',
  operationId: 'setLicenseTierByPost',
  description: 'The same as PATCH.',
});
const patchTierRoute = createRoute({
  ...tierContract,
  method: 'patch',
  operationId: 'setLicenseTier',
  description: 'Any tier from 0 may be set, lower ones too. Programs learn of it at their next validation.',
});

const resetHwidRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/{id}/reset-hwid',
  operationId: 'resetLicenseHwid',
  summary: 'Free a license of its device',
  description:
    'Status, end and activation stay as they are; bans of the device stay too. The next validation binds anew.',
  request: { params },
  responses: {
    200: licenseAnswer,
    ...failures(...changeCodes, 'LICENSE_NOT_FOUND', 'HWID_NOT_SET', 'LICENSE_BANNED'),
  },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/licenses/{id}',
  operationId: 'deleteLicense',
  summary: 'Delete a license',
  description: 'Its end user stays, without a license.',
  request: { params },
  responses: { 200: jsonAnswer('It is gone', answer({})), ...failures(...changeCodes, 'LICENSE_NOT_FOUND') },
});

export const licenseRoutes = createRouter()
  .openapi(createLicensesRoute, async (c) => {
    const { keys, warning } = await createLicenses({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, keys: [...keys], warning }, 201);
  })
  .openapi(createBlindRoute, async (c) => {
    const keys = await createBlindLicenses({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, keys }, 201);
  })
  .openapi(listRoute, async (c) => {
    const input = { applicationId: c.req.valid('param').id, page: c.req.valid('query') };
    const { items, nextCursor } = await listLicenses({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, licenses: [...items], nextCursor }, 200);
  })
  .openapi(extendRoute, async (c) => {
    const input = { applicationId: c.req.valid('param').id, ...c.req.valid('json') };
    const extended = await extendLicenses({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, extended }, 200);
  })
  .openapi(banRoute, async (c) => {
    const ban = c.req.valid('json') ?? {};
    const license = await banLicense({ ctx: serviceContext(c), input: { ...c.req.valid('param'), ban } });
    return c.json({ success: true as const, license }, 200);
  })
  .openapi(postTierRoute, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    const { subscriptionTier } = await setTier({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, subscriptionTier }, 200);
  })
  .openapi(patchTierRoute, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    const { subscriptionTier } = await setTier({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, subscriptionTier }, 200);
  })
  .openapi(resetHwidRoute, async (c) => {
    const license = await resetLicenseHwid({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const, license }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    await deleteLicense({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const }, 200);
  });
