import { policyNotFound } from '../../services/errors.ts';
import { readEntitlements, readMetadata } from '../../services/license/entitlements.ts';
import { movesOf } from '../../services/license/view.ts';
import { getPolicy } from '../../services/policy/get.ts';
import { policiesOfApplications, policyTable } from '../../services/policy/lists.ts';
import { type PolicyRow, policySelect } from '../../services/policy/view.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { toChanged, toExactlyOne, toOne } from '../to-one.ts';
import { Application, findApplication } from './application.ts';
import { License, Moves, SelfService } from './license.ts';
import { Node } from './node.ts';

export const PolicyStart = builder.enumType('PolicyStart', {
  description: 'What starts the term of a license.',
  values: {
    first_use: { description: 'Its first use.' },
    creation: { description: 'Its creation: it is active at once.' },
  } as const,
});

export const Policy = builder.prismaObject('Policy', {
  description:
    'Values for new licenses of an application. They are copied: a change of a policy changes no license.',
  interfaces: [Node],
  select: policySelect,
});

builder.objectFields(Policy, (t) => ({
  code: t.exposeString('code', { description: 'Unique within the application.' }),
  name: t.exposeString('name', { description: 'The name.' }),
  durationSeconds: t.exposeInt('durationSeconds', { description: 'The term in seconds; 0 means unlimited.' }),
  startsAt: t.expose('startsAt', { type: PolicyStart, description: 'What starts the term.' }),
  subscriptionTier: t.exposeInt('subscriptionTier', {
    description: 'From 0; your program decides what it means.',
  }),
  deviceLimit: t.exposeInt('deviceLimit', {
    description: 'How many devices may be bound at a time: 1 to 1,000.',
  }),
  selfService: t.expose('selfService', {
    type: SelfService,
    description: 'Who may list, release and move devices besides you.',
  }),
  moves: t.field({
    ...reads('moveCount', 'movePeriodSeconds'),
    type: Moves,
    nullable: true,
    description: 'How often a customer may move devices; null for any number of times.',
    resolve: movesOf,
  }),
  cooldownSeconds: t.exposeInt('cooldownSeconds', {
    description: 'How long a customer waits after a move for the next one.',
  }),
  releaseIdleAfterSeconds: t.exposeInt('releaseIdleAfterSeconds', {
    nullable: true,
    description: 'A device that was not used for so long gives its place to a new one; null: it never does.',
  }),
  graceSeconds: t.exposeInt('graceSeconds', {
    description: 'How long a license is still valid after its term.',
  }),
  leaseSeconds: t.exposeInt('leaseSeconds', {
    nullable: true,
    description: "The term of leases in seconds; null: the application's.",
  }),
  entitlements: t.field({
    ...reads('entitlements'),
    type: 'JSONObject',
    description: 'Code to true or false, a whole number, or a text.',
    complexity: 10,
    resolve: ({ entitlements }) => readEntitlements(entitlements),
  }),
  metadata: t.field({
    ...reads('metadata'),
    type: 'JSONObject',
    description: '`client` is inside the signed answers, `private` is only for you.',
    complexity: 10,
    resolve: ({ metadata }) => readMetadata(metadata),
  }),
  keyMask: t.exposeString('keyMask', {
    nullable: true,
    description: "The mask of its license keys; null if the account's applies.",
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  application: t.field({
    ...reads('applicationId'),
    type: Application,
    description: 'The application that the policy is for.',
    resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
  }),
}));

const findPolicy = toOne<PolicyRow>(policyTable);
const findOnePolicy = toExactlyOne<PolicyRow>(policyTable, policyNotFound);
/** The policy that a mutation changed. */
export const changedPolicy = toChanged<PolicyRow>(policyTable, policyNotFound);

builder.objectField(License, 'policy', (t) =>
  t.field({
    ...reads('policyId'),
    type: Policy,
    nullable: true,
    description: 'The policy that it was created by, or that was applied last; null once that is deleted.',
    resolve: ({ policyId }, _args, context, info) => findPolicy(policyId, context, info),
  }),
);

export const PolicyConnection = connectionType('PolicyConnection', Policy, 'policies');

builder.objectField(Application, 'policies', (t) =>
  t.field({
    type: PolicyConnection,
    description: 'The policies, newest first.',
    args: {
      ...t.arg.connectionArgs(),
      q: t.arg.string({ description: 'Case-insensitive substring of the code or the name.' }),
    },
    ...listField<PolicyRow>(policiesOfApplications),
  }),
);

builder.queryField('policy', (t) =>
  t.field({
    type: Policy,
    nullable: true,
    description: 'One of your policies. Null comes with an APP_NOT_FOUND or POLICY_NOT_FOUND error.',
    args: {
      applicationId: t.arg.id({ required: true, description: 'The application that it is for.' }),
      policyId: t.arg.id({ required: true, description: 'The id of the policy.' }),
    },
    resolve: async (_parent, input, context, info) => {
      const { id } = await getPolicy({ ctx: context.service, input });
      return findOnePolicy(id, context, info);
    },
  }),
);
