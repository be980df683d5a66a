import { type RouteHandler, z } from '@hono/zod-openapi';
import { issueOfflineLease, issueOfflineLeaseInput } from '../../services/lease/issue-offline.ts';
import { banLicense, banLicenseInput } from '../../services/license/ban.ts';
import { createLicenses, createLicensesInput } from '../../services/license/create.ts';
import { createBlindInput, createBlindLicenses } from '../../services/license/create-blind.ts';
import { deleteLicense } from '../../services/license/delete.ts';
import { extendLicenses, extendLicensesInput } from '../../services/license/extend.ts';
import { listLicenses } from '../../services/license/list.ts';
import { resetLicenseHwid } from '../../services/license/reset-hwid.ts';
import { setTier, setTierInput } from '../../services/license/set-tier.ts';
import { type RestEnv, serviceContext } from '../adapter.ts';
import { licenseQuery, licenseQueryNames } from '../license-filter.ts';
import { refusePrototype } from '../middleware/refuse-prototype.ts';
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
  searchCodes,
} from '../route.ts';
import {
  answer,
  blindLicenseSchema,
  licenseSchema,
  mintedLicenseSchema,
  nextCursorSchema,
  seenLicenseSchema,
  timestamp,
} from '../schemas.ts';

const tags = ['Licenses'];
const dashboard = { ...forDevelopers, tags };
const params = idParam('the license');
const applicationParams = idParam('the application');
const licenseAnswer = jsonAnswer('The updated license', answer({ license: licenseSchema }));

const createLicensesRoute = createRoute({
  ...limitedForDevelopers('licenseCreate'),
  tags,
  method: 'post',
  path: '/licenses/create',
  operationId: 'createLicenses',
  ...needs('licenses:mint'),
  summary: 'Create license keys; they are shown only once',
  description:
    'Each `X` in `mask` becomes a random character; other characters are kept. `durationSeconds` is the ' +
    'term, counted from first use (`startsAt: "creation"`: from now); 0 means unlimited. It is required without ' +
    '`policyId`. With it, values that are not given are copied from the policy. `warning` says that the keys cannot be ' +
    'recovered, and whether the mask is short. In private mode the response is PRIVATE_MODE: generate keys in the browser and ' +
    'send their hashes to `/licenses/create-blind`. RATE_LIMITED is also returned when your account has created ' +
    'too many licenses within a minute; `error` says how many are left.',
  request: { body: jsonBody(createLicensesInput) },
  responses: {
    201: jsonAnswer('The keys', answer({ keys: z.array(mintedLicenseSchema), warning: z.string() })),
    ...failures(...bodyCodes, 'APP_NOT_FOUND', 'POLICY_NOT_FOUND', 'PRIVATE_MODE'),
  },
});

const createBlindRoute = createRoute({
  ...limitedForDevelopers('blindCreate'),
  tags,
  method: 'post',
  path: '/licenses/create-blind',
  operationId: 'createBlindLicenses',
  ...needs('licenses:mint'),
  summary: 'Store licenses whose keys were generated in the browser: all or none',
  description:
    'The service never receives the keys. Works in both modes. Values that neither a key nor the batch gives are ' +
    'copied from the policy; without `policyId`, `durationSeconds` is required. With KEY_EXISTS, `issues` lists the keys that ' +
    'already exist. RATE_LIMITED is also returned when your account has created too many licenses within a ' +
    'minute; `error` says how many are left.',
  request: { body: jsonBody(createBlindInput) },
  responses: {
    201: jsonAnswer('The licenses', answer({ keys: z.array(blindLicenseSchema) })),
    ...failures(...bodyCodes, 'APP_NOT_FOUND', 'POLICY_NOT_FOUND', 'KEY_EXISTS'),
  },
});

const listRoute = createRoute({
  ...dashboard,
  middleware: [...dashboard.middleware, refusePrototype(licenseQueryNames)],
  method: 'get',
  path: '/apps/{id}/licenses',
  operationId: 'listLicenses',
  ...needs('licenses:read'),
  summary: "List an application's licenses, newest first",
  description:
    'Keys are not included: the service stores only their hashes. `q` searches key prefixes, notes, HWIDs and last ' +
    'IP addresses; a complete key finds its license, and a complete HWID the licenses of the device. All given conditions ' +
    'must match.',
  request: { params: applicationParams, query: licenseQuery },
  responses: {
    200: jsonAnswer(
      'A page of licenses',
      answer({ licenses: z.array(seenLicenseSchema), nextCursor: nextCursorSchema }),
    ),
    ...failures(...searchCodes, 'APP_NOT_FOUND'),
  },
});

const extendRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/licenses/extend',
  operationId: 'extendLicenses',
  ...needs('licenses:write'),
  summary: 'Extend all active licenses whose term is limited',
  description:
    'Licenses that are unused, expired or banned, or never expire, are unchanged. If any license would expire after ' +
    '9999-12-31T23:59:59Z, none is extended and the response is VALIDATION_FAILED.',
  request: { params: applicationParams, body: jsonBody(extendLicensesInput) },
  responses: {
    200: jsonAnswer('The number of extended licenses', answer({ extended: z.int() })),
    ...failures(...bodyCodes, 'APP_NOT_FOUND'),
  },
});

const banRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/{id}/ban',
  operationId: 'banLicense',
  ...needs('licenses:write'),
  summary: 'Ban a license, optionally with its device and IP address',
  description:
    'Without a body, only the license is banned. Scope `hwid` also bans its devices with a known HWID; without such a ' +
    'device, the response is HWID_NOT_SET. Scope `hwid_and_ip` also bans these devices, if any, and an IP address: `ip`, ' +
    'or the last one that the license was used from. If neither is known, the response is IP_NOT_KNOWN.',
  request: { params, body: { content: { 'application/json': { schema: banLicenseInput } } } },
  responses: {
    200: licenseAnswer,
    ...failures(...bodyCodes, 'LICENSE_NOT_FOUND', 'HWID_NOT_SET', 'IP_NOT_KNOWN', 'LIMIT_REACHED'),
  },
});

const tierContract = {
  ...dashboard,
  path: '/licenses/{id}/tier',
  summary: "Set a license's tier",
  request: { params, body: jsonBody(setTierInput) },
  responses: {
    200: jsonAnswer('The updated tier', answer({ subscriptionTier: z.int() })),
    ...failures(...bodyCodes, 'LICENSE_NOT_FOUND'),
  },
};
const postTierRoute = createRoute({
  ...tierContract,
  method: 'post',
  operationId: 'setLicenseTierByPost',
  ...needs('licenses:write'),
  description: 'Same as PATCH.',
});
const patchTierRoute = createRoute({
  ...tierContract,
  method: 'patch',
  operationId: 'setLicenseTier',
  ...needs('licenses:write'),
  description: 'Any tier from 0 is allowed, including a lower one. Programs see it at their next validation.',
});

const resetHwidRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/{id}/reset-hwid',
  operationId: 'resetLicenseHwid',
  ...needs('licenses:write'),
  summary: 'Unbind a license from its device',
  description:
    'Status, expiry and activation are unchanged, and so are bans of the device. The next validation or login binds a device again.',
  request: { params },
  responses: {
    200: licenseAnswer,
    ...failures(...changeCodes, 'LICENSE_NOT_FOUND', 'HWID_NOT_SET', 'LICENSE_BANNED'),
  },
});

const offlineLeaseRoute = createRoute({
  ...limitedForDevelopers('licenseCreate'),
  tags,
  method: 'post',
  path: '/licenses/{id}/offline-lease',
  operationId: 'issueOfflineLease',
  ...needs('licenses:write'),
  summary: 'Issue a lease for a device without a network',
  description:
    'The device shows `deviceRequest`, a text that begins with `LKQ2.`; bring `lease` back to it. As with a validation, ' +
    'an unused license becomes active, and if the application locks licenses to devices, one with room is bound to the ' +
    "device, and another one is refused. `days` is 1 to 30, by default the license's or the application's term; the lease " +
    'ends with the license at the latest. It is issued even if `leasesEnabled` is false.',
  request: {
    params,
    body: jsonBody(issueOfflineLeaseInput.extend({ deviceRequest: z.string().max(200) })),
  },
  responses: {
    201: jsonAnswer('The lease', answer({ lease: z.string(), expiresAt: timestamp })),
    ...failures(
      ...bodyCodes,
      'LICENSE_NOT_FOUND',
      'APP_MISMATCH',
      'BANNED',
      'SUSPENDED',
      'EXPIRED',
      'DEVICE_RELEASED',
      'HWID_MISMATCH',
      'DEVICE_LIMIT',
      'HWID_BANNED',
      'LIMIT_REACHED',
    ),
  },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/licenses/{id}',
  operationId: 'deleteLicense',
  ...needs('licenses:write'),
  summary: 'Delete a license permanently',
  description: 'Its end users remain, without a license. To block a customer, ban the license instead.',
  request: { params },
  responses: {
    200: jsonAnswer('The license is deleted', answer({})),
    ...failures(...changeCodes, 'CONFIRMATION_REQUIRED', 'LICENSE_NOT_FOUND'),
  },
});

const answerTier: RouteHandler<typeof patchTierRoute, RestEnv> = async (c) => {
  const input = { ...c.req.valid('param'), ...c.req.valid('json') };
  const { subscriptionTier } = await setTier({ ctx: serviceContext(c), input });
  return c.json({ success: true as const, subscriptionTier }, 200);
};

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
    const input = { applicationId: c.req.valid('param').id, ...c.req.valid('query') };
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
  .openapi(postTierRoute, answerTier)
  .openapi(patchTierRoute, answerTier)
  .openapi(resetHwidRoute, async (c) => {
    const license = await resetLicenseHwid({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const, license }, 200);
  })
  .openapi(offlineLeaseRoute, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    const { lease, expiresAt } = await issueOfflineLease({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, lease, expiresAt }, 201);
  })
  .openapi(deleteRoute, async (c) => {
    await deleteLicense({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const }, 200);
  });
