import { createRoute, z } from '@hono/zod-openapi';
import { banLicense, banLicenseInput } from '../../services/license/ban.ts';
import { createLicenses, createLicensesInput } from '../../services/license/create.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { rateLimit } from '../middleware/rate-limit.ts';
import { createRouter, developerSecurity, failures, idParam, jsonAnswer, jsonBody } from '../route.ts';
import { answer, licenseSchema, mintedLicenseSchema } from '../schemas.ts';

const createLicensesRoute = createRoute({
  method: 'post',
  path: '/licenses/create',
  tags: ['Licenses'],
  summary: 'Mint license keys; they are shown this once',
  security: developerSecurity,
  middleware: [rateLimit('licenseCreate'), authenticated],
  request: { body: jsonBody(createLicensesInput) },
  responses: {
    201: jsonAnswer('The keys', answer({ keys: z.array(mintedLicenseSchema), warning: z.string() })),
    ...failures(400, 401, 403, 404, 409, 413, 429, 503),
  },
});

const banRoute = createRoute({
  method: 'post',
  path: '/licenses/{id}/ban',
  tags: ['Licenses'],
  summary: 'Ban a license, and with it its device and address if you like',
  security: developerSecurity,
  middleware: authenticated,
  request: { params: idParam, body: { content: { 'application/json': { schema: banLicenseInput } } } },
  responses: {
    200: jsonAnswer('The license as it is now', answer({ license: licenseSchema })),
    ...failures(400, 401, 403, 404, 413, 429, 503),
  },
});

export const licenseRoutes = createRouter()
  .openapi(createLicensesRoute, async (c) => {
    const { keys, warning } = await createLicenses({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, keys: [...keys], warning }, 201);
  })
  .openapi(banRoute, async (c) => {
    // The body is optional, and so is what it would say: without one the router has checked nothing.
    const ban = banLicenseInput.parse(c.req.valid('json') ?? {});
    const license = await banLicense({ ctx: serviceContext(c), input: { ...c.req.valid('param'), ban } });
    return c.json({ success: true as const, license }, 200);
  });
