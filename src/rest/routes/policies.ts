import { z } from '@hono/zod-openapi';
import { applyPolicy, applyPolicyInput } from '../../services/policy/apply.ts';
import { createPolicy } from '../../services/policy/create.ts';
import { deletePolicy } from '../../services/policy/delete.ts';
import { createPolicyInput, policyChangeNotEmpty, updatePolicyInput } from '../../services/policy/fields.ts';
import { getPolicy } from '../../services/policy/get.ts';
import { listPolicies } from '../../services/policy/list.ts';
import { updatePolicy } from '../../services/policy/update.ts';
import { serviceContext } from '../adapter.ts';
import { bulkAnswer, shownOutcome } from '../bulk-answer.ts';
import { licenseFilterBody } from '../license-filter.ts';
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
  needs,
  nestedIdParam,
  readCodes,
  searchCodes,
} from '../route.ts';
import { answer, nextCursorSchema, policySchema } from '../schemas.ts';

const dashboard = { ...forDevelopers, tags: ['Policies'] };
const applicationParams = idParam('the application');
const params = applicationParams.extend({ policyId: nestedIdParam('policyId', 'the policy') });
const policyAnswer = answer({ policy: policySchema });

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/policies',
  operationId: 'listPolicies',
  ...needs('licenses:read'),
  summary: "List an application's policies, newest first",
  description: '`q` searches codes and names.',
  request: { params: applicationParams, query: pageQuery },
  responses: {
    200: jsonAnswer(
      'A page of policies',
      answer({ policies: z.array(policySchema), nextCursor: nextCursorSchema }),
    ),
    ...failures(...searchCodes, 'APP_NOT_FOUND'),
  },
});

const createPolicyRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/policies',
  operationId: 'createPolicy',
  ...needs('licenses:write'),
  summary: 'Create a policy: values for new licenses',
  description:
    'Name it in `policyId` when you create licenses: they get copies of its values. Only `code` and `name` are ' +
    'required; the defaults of the others are those of a license. `startsAt: "creation"` makes new licenses active at ' +
    "once. `keyMask` is the mask of their keys; null: the account's.",
  request: { params: applicationParams, body: jsonBody(createPolicyInput) },
  responses: {
    201: jsonAnswer('The policy', policyAnswer),
    ...failures(...bodyCodes, 'APP_NOT_FOUND', 'POLICY_CODE_TAKEN', 'LIMIT_REACHED'),
  },
});

const getRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/policies/{policyId}',
  operationId: 'getPolicy',
  ...needs('licenses:read'),
  summary: 'Get a policy',
  description: 'Includes the members that have their defaults.',
  request: { params },
  responses: {
    200: jsonAnswer('The policy', policyAnswer),
    ...failures(...readCodes, 'APP_NOT_FOUND', 'POLICY_NOT_FOUND'),
  },
});

const updateRoute = createRoute({
  ...dashboard,
  method: 'patch',
  path: '/apps/{id}/policies/{policyId}',
  operationId: 'updatePolicy',
  ...needs('licenses:write'),
  summary: 'Change a policy; its licenses stay as they are',
  description:
    'Send at least one member; others are unchanged. `entitlements` and `metadata` are replaced as a whole. Licenses that ' +
    'were created by the policy have copies of its values.',
  request: {
    params,
    body: jsonBody(
      updatePolicyInput.refine(policyChangeNotEmpty, 'must have at least one member of a policy'),
    ),
  },
  responses: {
    200: jsonAnswer('The updated policy', policyAnswer),
    ...failures(...bodyCodes, 'APP_NOT_FOUND', 'POLICY_NOT_FOUND', 'POLICY_CODE_TAKEN'),
  },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/apps/{id}/policies/{policyId}',
  operationId: 'deletePolicy',
  ...needs('licenses:write'),
  summary: 'Delete a policy; its licenses stay as they are',
  description: 'The licenses that it created keep its values and its id.',
  request: { params },
  responses: {
    200: jsonAnswer('The policy is deleted', answer({})),
    ...failures(...changeCodes, 'APP_NOT_FOUND', 'POLICY_NOT_FOUND'),
  },
});

const applyRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/policies/{policyId}/apply',
  operationId: 'applyPolicy',
  ...needs('licenses:write'),
  summary: "Copy a policy's values to existing licenses, or tell what would be changed",
  description:
    'By default to the licenses that the policy created, or was applied to last; or to those of `ids` or `filter`: at ' +
    'most 10,000. All values are copied except `startsAt` and `keyMask`, and ' +
    '`durationSeconds` if the term of the license has started. Licenses that have all values already are skipped as ' +
    'UNCHANGED. Answers and limits are those of `/licenses/bulk`.',
  request: {
    params,
    body: jsonBody(applyPolicyInput.extend({ filter: licenseFilterBody.optional() })),
  },
  responses: {
    200: bulkAnswer,
    ...failures(...bodyCodes, ...searchCodes, 'APP_NOT_FOUND', 'POLICY_NOT_FOUND', 'TOO_MANY'),
  },
});

export const policyRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const input = { applicationId: c.req.valid('param').id, page: c.req.valid('query') };
    const { items, nextCursor } = await listPolicies({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, policies: [...items], nextCursor }, 200);
  })
  .openapi(createPolicyRoute, async (c) => {
    const input = { applicationId: c.req.valid('param').id, policy: c.req.valid('json') };
    const policy = await createPolicy({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, policy }, 201);
  })
  .openapi(getRoute, async (c) => {
    const { id: applicationId, policyId } = c.req.valid('param');
    const policy = await getPolicy({ ctx: serviceContext(c), input: { applicationId, policyId } });
    return c.json({ success: true as const, policy }, 200);
  })
  .openapi(updateRoute, async (c) => {
    const { id: applicationId, policyId } = c.req.valid('param');
    const input = { applicationId, policyId, change: c.req.valid('json') };
    const policy = await updatePolicy({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, policy }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    const { id: applicationId, policyId } = c.req.valid('param');
    await deletePolicy({ ctx: serviceContext(c), input: { applicationId, policyId } });
    return c.json({ success: true as const }, 200);
  })
  .openapi(applyRoute, async (c) => {
    const { id: applicationId, policyId } = c.req.valid('param');
    const input = { applicationId, policyId, ...c.req.valid('json') };
    return c.json(shownOutcome(await applyPolicy({ ctx: serviceContext(c), input })), 200);
  });
