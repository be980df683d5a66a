import { bulkLicenses } from '../../services/license/bulk.ts';
import { maxSelected } from '../../services/license/select-licenses.ts';
import { serviceContext } from '../adapter.ts';
import { bulkAnswer, shownOutcome } from '../bulk-answer.ts';
import { bulkBody } from '../bulk-body.ts';
import {
  bodyCodes,
  createRoute,
  createRouter,
  failures,
  forDevelopers,
  idParam,
  jsonBody,
  needs,
  searchCodes,
} from '../route.ts';

const bulkRoute = createRoute({
  ...forDevelopers,
  tags: ['Licenses'],
  method: 'post',
  path: '/apps/{id}/licenses/bulk',
  operationId: 'bulkLicenses',
  ...needs('licenses:write'),
  summary: 'Change many licenses, or tell what would be changed',
  description:
    `Send either \`ids\` or \`filter\`, for at most ${maxSelected.toLocaleString('en-US')} licenses; TOO_MANY says how ` +
    'many there are, and changes nothing. An empty filter means all licenses. `params` are those of the action: ' +
    '`reason` and `stopClock` of `suspend`; `seconds` of `extend`; `seconds` and `basis` of `renew`; `subscriptionTier` ' +
    'of `setTier`; `tags` of `addTags` and `removeTags`. Each license is changed as by its own operation, with its own ' +
    'log entry. Licenses that this does not suit are skipped, with the code of the reason. With `dryRun`, nothing is ' +
    'changed, and `ids` lists the licenses that would be. RATE_LIMITED: your account has created or changed too many ' +
    'licenses within a minute.',
  request: { params: idParam('the application'), body: jsonBody(bulkBody) },
  responses: {
    200: bulkAnswer,
    ...failures(...bodyCodes, ...searchCodes, 'CONFIRMATION_REQUIRED', 'APP_NOT_FOUND', 'TOO_MANY'),
  },
});

export const licenseBulkRoutes = createRouter().openapi(bulkRoute, async (c) => {
  const input = { applicationId: c.req.valid('param').id, ...c.req.valid('json') };
  return c.json(shownOutcome(await bulkLicenses({ ctx: serviceContext(c), input })), 200);
});
