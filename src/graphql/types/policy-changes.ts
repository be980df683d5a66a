import { parseInput } from '../../services/parse-input.ts';
import { applyPolicy } from '../../services/policy/apply.ts';
import { createPolicy } from '../../services/policy/create.ts';
import { deletePolicy } from '../../services/policy/delete.ts';
import { createPolicyInput, updatePolicyInput } from '../../services/policy/fields.ts';
import { updatePolicy } from '../../services/policy/update.ts';
import { builder } from '../builder.ts';
import { withInput, withoutNulls } from '../input.ts';
import { Application, findApplication } from './application.ts';
import { BulkFilter, bulkPayload } from './license-bulk.ts';
import { givenTerms, termsFields } from './license-terms.ts';
import { changedPolicy, Policy, PolicyStart } from './policy.ts';

/** The payload of a mutation that changes one policy. */
const policyPayload = (name: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description: 'The policy after the change.',
    fields: (t) => ({
      policy: t.field({
        type: Policy,
        description: 'The policy.',
        resolve: ({ id }, _args, context, info) => changedPolicy(id, context, info),
      }),
    }),
  });

const CreatePolicyInput = builder.inputType('CreatePolicyInput', {
  description: 'A new policy. The defaults of its values are those of a license.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application that it is for.' }),
    code: t.string({
      required: true,
      description: '1 to 64 of the characters a-z 0-9 _ . -, unique within the application.',
    }),
    name: t.string({ required: true, description: '1 to 100 characters.' }),
    durationSeconds: t.int({ description: 'The term in seconds; 0, the default, means unlimited.' }),
    startsAt: t.field({ type: PolicyStart, description: 'What starts the term; first_use by default.' }),
    ...termsFields(t),
    keyMask: t.string({ description: "The mask of its license keys; by default the account's." }),
  }),
});

const UpdatePolicyInput = builder.inputType('UpdatePolicyInput', {
  description: 'The values to change. Omitted values stay as they are; at least one is required.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application that it is for.' }),
    policyId: t.id({ required: true, description: 'The id of the policy.' }),
    code: t.string({ description: 'Unique within the application.' }),
    name: t.string({ description: '1 to 100 characters.' }),
    durationSeconds: t.int({ description: 'The term in seconds; 0 means unlimited.' }),
    startsAt: t.field({ type: PolicyStart, description: 'What starts the term.' }),
    ...termsFields(t),
    keyMask: t.string({ description: "The mask of its license keys; null: the account's." }),
  }),
});

const DeletePolicyInput = builder.inputType('DeletePolicyInput', {
  description: 'The policy to delete.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application that it is for.' }),
    policyId: t.id({ required: true, description: 'The id of the policy.' }),
  }),
});

const DeletePolicyPayload = builder
  .objectRef<{ policyId: string; applicationId: string }>('DeletePolicyPayload')
  .implement({
    description: 'The deleted policy.',
    fields: (t) => ({
      deletedPolicyId: t.exposeID('policyId', { description: 'The id of the deleted policy.' }),
      application: t.field({
        type: Application,
        description: 'The application that the policy was for.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

const ApplyPolicyInput = builder.inputType('ApplyPolicyInput', {
  description: 'The policy, and licenses: by default those that it created, or was applied to last.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application that it is for.' }),
    policyId: t.id({ required: true, description: 'The id of the policy.' }),
    ids: t.idList({ description: 'The ids of the licenses: 1 to 10,000. Not with filter.' }),
    filter: t.field({ type: BulkFilter, description: 'Selects the licenses. Not with ids.' }),
    dryRun: t.boolean({ description: 'Whether to change nothing and tell what would be changed.' }),
  }),
});

builder.mutationFields((t) => ({
  createPolicy: t.field({
    type: policyPayload('CreatePolicyPayload'),
    ...withInput(CreatePolicyInput, 'The new policy.'),
    description:
      'Creates a policy: values for new licenses. Errors: APP_NOT_FOUND, POLICY_CODE_TAKEN, LIMIT_REACHED.',
    resolve: (_parent, { input: { applicationId, ...policy } }, { service }) =>
      createPolicy({
        ctx: service,
        input: { applicationId, policy: parseInput(createPolicyInput, givenTerms(policy)) },
      }),
  }),
  updatePolicy: t.field({
    type: policyPayload('UpdatePolicyPayload'),
    ...withInput(UpdatePolicyInput, 'The policy and its new values.'),
    description:
      'Changes a policy; its licenses stay as they are. Entitlements and metadata are replaced as a whole. Errors: APP_NOT_FOUND, POLICY_NOT_FOUND, POLICY_CODE_TAKEN.',
    resolve: (_parent, { input: { applicationId, policyId, ...change } }, { service }) =>
      updatePolicy({
        ctx: service,
        input: { applicationId, policyId, change: parseInput(updatePolicyInput, givenTerms(change)) },
      }),
  }),
  applyPolicy: t.field({
    type: bulkPayload('ApplyPolicyPayload'),
    ...withInput(ApplyPolicyInput, 'The policy and the licenses.'),
    description:
      'Copies the values of a policy to up to 10,000 existing licenses, or tells what would be changed. The term of a license that has started stays as it is. Licenses that have all values are skipped as UNCHANGED. Errors: APP_NOT_FOUND, POLICY_NOT_FOUND, TOO_MANY, RATE_LIMITED (if the account creates or changes too many licenses in a minute).',
    // As that of bulkLicenses.
    complexity: 1_000,
    resolve: (_parent, { input }, { service }) => applyPolicy({ ctx: service, input: withoutNulls(input) }),
  }),
  deletePolicy: t.field({
    type: DeletePolicyPayload,
    ...withInput(DeletePolicyInput, 'The policy.'),
    description:
      'Deletes a policy; the licenses that it created keep its values. Errors: APP_NOT_FOUND, POLICY_NOT_FOUND.',
    resolve: async (_parent, { input }, { service }) => {
      await deletePolicy({ ctx: service, input });
      return input;
    },
  }),
}));
