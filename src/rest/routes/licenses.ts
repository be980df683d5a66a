import { createRoute, z } from '@hono/zod-openapi';
import { banLicense, banLicenseInput } from '../../services/license/ban.ts';
import { createLicenses, createLicensesInput } from '../../services/license/create.ts';
import { createBlindInput, createBlindLicenses } from '../../services/license/create-blind.ts';
import { deleteLicense } from '../../services/license/delete.ts';
import { extendLicenses, extendLicensesInput } from '../../services/license/extend.ts';
import { listLicenses } from '../../services/license/list.ts';
import { resetLicenseHwid } from '../../services/license/reset-hwid.ts';
import { setTier, setTierInput } from '../../services/license/set-tier.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { rateLimit } from '../middleware/rate-limit.ts';
import { pageQuery } from '../page-query.ts';
import { createRouter, developerSecurity, failures, idParam, jsonAnswer, jsonBody } from '../route.ts';
import { answer, blindLicenseSchema, licenseSchema, mintedLicenseSchema } from '../schemas.ts';

const dashboard = { tags: ['Licenses'], security: developerSecurity, middleware: authenticated };
const licenseAnswer = jsonAnswer('The license as it is now', answer({ license: licenseSchema }));

const createLicensesRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/create',
  summary: 'Mint license keys; they are shown this once',
  middleware: [rateLimit('licenseCreate'), authenticated],
  request: { body: jsonBody(createLicensesInput) },
  responses: {
    201: jsonAnswer('The keys', answer({ keys: z.array(mintedLicenseSchema), warning: z.string() })),
    ...failures(400, 401, 403, 404, 409, 413, 429, 503),
  },
});

const createBlindRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/create-blind',
  summary: 'Store licenses whose keys the browser has minted: all or none',
  middleware: [rateLimit('blindCreate'), authenticated],
  request: { body: jsonBody(createBlindInput) },
  responses: {
    201: jsonAnswer('The licenses', answer({ keys: z.array(blindLicenseSchema) })),
    ...failures(400, 401, 403, 404, 409, 413, 429, 503),
  },
});

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/licenses',
  summary: 'Licenses of an application, newest first',
  request: { params: idParam, query: pageQuery },
  responses: {
    200: jsonAnswer(
      'A page of licenses',
      answer({ licenses: z.array(licenseSchema), nextCursor: z.string().nullable() }),
    ),
    ...failures(400, 401, 404, 429, 503),
  },
});

const extendRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/licenses/extend',
  summary: 'Give every active license that has an end more time',
  request: { params: idParam, body: jsonBody(extendLicensesInput) },
  responses: {
    200: jsonAnswer('How many there were', answer({ extended: z.int() })),
    ...failures(400, 401, 403, 404, 413, 429, 503),
  },
});

const banRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/{id}/ban',
  summary: 'Ban a license, and with it its device and address if you like',
  request: { params: idParam, body: { content: { 'application/json': { schema: banLicenseInput } } } },
  responses: { 200: licenseAnswer, ...failures(400, 401, 403, 404, 413, 429, 503) },
});

const tierContract = {
  ...dashboard,
  path: '/licenses/{id}/tier',
  summary: "Set a license's tier",
  request: { params: idParam, body: jsonBody(setTierInput) },
  responses: {
    200: jsonAnswer('The tier as it is now', answer({ subscriptionTier: z.int() })),
    ...failures(400, 401, 403, 404, 413, 429, 503),
  },
};
const postTierRoute = createRoute({ ...tierContract, method: 'post' });
const patchTierRoute = createRoute({ ...tierContract, method: 'patch' });

const resetHwidRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/licenses/{id}/reset-hwid',
  summary: 'Free a license of its device',
  request: { params: idParam },
  responses: { 200: licenseAnswer, ...failures(400, 401, 403, 404, 429, 503) },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/licenses/{id}',
  summary: 'Delete a license',
  request: { params: idParam },
  responses: { 200: jsonAnswer('It is gone', answer({})), ...failures(401, 403, 404, 429, 503) },
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
    // The body is optional, and so is what it would say: without one the router has checked nothing.
    const ban = banLicenseInput.parse(c.req.valid('json') ?? {});
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
