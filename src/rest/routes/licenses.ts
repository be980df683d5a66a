import { createRoute, z } from '@hono/zod-openapi';
import { createLicenses, createLicensesInput } from '../../services/license/create.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { rateLimit } from '../middleware/rate-limit.ts';
import { createRouter, developerSecurity, failures, jsonAnswer, jsonBody } from '../route.ts';
import { answer, mintedLicenseSchema } from '../schemas.ts';

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

export const licenseRoutes = createRouter().openapi(createLicensesRoute, async (c) => {
  const { keys, warning } = await createLicenses({ ctx: serviceContext(c), input: c.req.valid('json') });
  return c.json({ success: true as const, keys: [...keys], warning }, 201);
});
