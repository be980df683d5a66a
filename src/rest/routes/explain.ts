import { z } from '@hono/zod-openapi';
import { explainLicense, explainLicenseInput } from '../../services/explain/explain-license.ts';
import { refusalCodes, ruleNames } from '../../services/license/decide.ts';
import { serviceContext } from '../adapter.ts';
import {
  createRoute,
  createRouter,
  failures,
  forDevelopers,
  jsonAnswer,
  jsonBody,
  needs,
  readCodes,
} from '../route.ts';
import { timestamp } from '../schemas.ts';

const explanation = z.object({
  success: z.boolean().openapi({ description: 'Whether the client would be accepted.' }),
  code: z.enum([...refusalCodes, 'OK']).openapi({ description: 'The verdict that the client would get.' }),
  message: z.string(),
  rules: z.array(
    z.object({
      rule: z.enum(ruleNames),
      outcome: z.enum(['pass', 'fail', 'not_asked', 'not_reached']),
      because: z.string(),
    }),
  ),
  wouldActivate: z.boolean(),
  wouldBind: z.boolean(),
  expiresAt: timestamp.nullable(),
  graceEndsAt: timestamp.nullable(),
  note: z.string().nullable(),
});

const explainRoute = createRoute({
  ...forDevelopers,
  tags: ['Licenses'],
  method: 'post',
  path: '/licenses/explain',
  operationId: 'explainLicense',
  ...needs('licenses:read'),
  summary: 'Explain the verdict that a client would get',
  description:
    'Asks the rules that judge clients, in their order, and changes, counts and logs nothing. `success` is that of the ' +
    'verdict. A rule that the question says nothing about is `not_asked`; rules after the one that fails are ' +
    '`not_reached`. With `at` in the future, it shows an expiry to come. With `logEntryId`, device, address, version, ' +
    'application and license are those of the entry where it has them, unless you give others; all other facts are of ' +
    'now, as `note` says. `wouldActivate` and `wouldBind` say what the request would change.',
  request: {
    body: jsonBody(
      explainLicenseInput.extend({
        applicationId: z.string().openapi({ format: 'uuid' }).optional(),
        licenseId: z.string().openapi({ format: 'uuid' }).optional(),
        logEntryId: z.string().openapi({ format: 'uuid' }).optional(),
        ip: z.string().max(64).optional(),
        at: z.iso.datetime({ offset: true }).optional(),
      }),
    ),
  },
  responses: {
    200: jsonAnswer('The verdict and its rules', explanation),
    ...failures(
      ...readCodes,
      'FORBIDDEN',
      'PAYLOAD_TOO_LARGE',
      'TOO_MANY_READS',
      'APP_NOT_FOUND',
      'LICENSE_NOT_FOUND',
      'LOG_ENTRY_NOT_FOUND',
    ),
  },
});

export const explainRoutes = createRouter().openapi(explainRoute, async (c) => {
  const { rules, ...verdict } = await explainLicense({
    ctx: serviceContext(c),
    input: c.req.valid('json'),
  });
  return c.json({ ...verdict, rules: [...rules] }, 200);
});
