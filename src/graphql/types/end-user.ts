import { createEndUser, createEndUserInput } from '../../services/end-user/create.ts';
import { deleteEndUser } from '../../services/end-user/delete.ts';
import {
  endUserFilter,
  endUserTable,
  usersOfApplications,
  usersOfLicenses,
} from '../../services/end-user/lists.ts';
import { resetEndUserHwid } from '../../services/end-user/reset-hwid.ts';
import { endUserSelect } from '../../services/end-user/view.ts';
import { userNotFound } from '../../services/errors.ts';
import { builder } from '../builder.ts';
import { connectionComplexity, connectionType } from '../connection.ts';
import { parseInput } from '../input.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { toExactlyOne, toOne } from '../to-one.ts';
import { Application, findApplication } from './application.ts';
import { findLicense, License } from './license.ts';

export const EndUser = builder.prismaObject('EndUser', {
  description: "A customer's account inside one application.",
  select: endUserSelect,
  fields: (t) => ({
    id: t.id({ description: 'UUID, the same as in REST.', resolve: ({ id }) => id }),
    username: t.string({
      description: '3 to 64 characters of a-z, A-Z, 0-9, ".", "_" and "-"; unique within the application.',
      resolve: ({ username }) => username,
    }),
    email: t.string({
      nullable: true,
      description: 'As it was given; null when it was not.',
      resolve: ({ email }) => email,
    }),
    subscriptionTier: t.int({
      ...reads('license'),
      nullable: true,
      description: 'Of the linked license; null without one.',
      resolve: ({ license }) => license?.subscriptionTier ?? null,
    }),
    lastIp: t.string({
      nullable: true,
      description: 'The address of the last login; null before it.',
      resolve: ({ lastIp }) => lastIp,
    }),
    lastHwid: t.string({
      nullable: true,
      description: 'The device of the last login; null when none was told, or after a reset.',
      resolve: ({ lastHwid }) => lastHwid,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the account was made.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'When it last changed.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
    application: t.field({
      ...reads('applicationId'),
      type: Application,
      description: 'The application it is of.',
      resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
    }),
    license: t.field({
      ...reads('licenseId'),
      type: License,
      nullable: true,
      description: 'The linked license; null when there is none.',
      resolve: ({ licenseId }, _args, context, info) => findLicense(licenseId, context, info),
    }),
  }),
});

type EndUserShape = typeof EndUser.$inferType;

/** An end user that something is about; null when the account is gone. */
export const findEndUser = toOne<EndUserShape>(endUserTable);
const changedEndUser = toExactlyOne<EndUserShape>(endUserTable, userNotFound);

builder.queryField('endUser', (t) =>
  t.field({
    type: EndUser,
    nullable: true,
    description: 'One end user of your applications. Null comes with a USER_NOT_FOUND error.',
    args: { id: t.arg.id({ required: true, description: 'The id.' }) },
    resolve: (_parent, { id }, context, info) => changedEndUser(id, context, info),
  }),
);

export const EndUserConnection = connectionType('EndUserConnection', EndUser, 'end users');

const EndUserFilterInput = builder.inputType('EndUserFilter', {
  description: 'Which end users; each condition that is given has to hold.',
  fields: (t) => ({
    hasLicense: t.boolean({ description: 'Those who have a license; false: those who have none.' }),
    subscriptionTiers: t.intList({
      description: 'Those whose license is of one of these tiers; at most 100.',
    }),
    hasHwid: t.boolean({ description: 'Those whose last device is known; false: the others.' }),
  }),
});

const endUserConditions = builder.args((t) => ({
  q: t.string({ description: 'Substring of username, email, last address or last HWID, in any case.' }),
  filter: t.field({ type: EndUserFilterInput, description: 'Further conditions.' }),
}));

builder.prismaObjectField('Application', 'users', (t) =>
  t.field({
    type: EndUserConnection,
    description: 'Its end users, newest first.',
    args: { ...t.arg.connectionArgs(), ...endUserConditions },
    complexity: connectionComplexity,
    ...listField<EndUserShape, typeof endUserFilter>(usersOfApplications, endUserFilter),
  }),
);

builder.prismaObjectField('License', 'users', (t) =>
  t.field({
    type: EndUserConnection,
    description: 'The end users who have it, newest first.',
    args: { ...t.arg.connectionArgs(), ...endUserConditions },
    complexity: connectionComplexity,
    ...listField<EndUserShape, typeof endUserFilter>(usersOfLicenses, endUserFilter),
  }),
);

const CreateEndUserInput = builder.inputType('CreateEndUserInput', {
  description: 'A new account of an end user.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application it is of.' }),
    username: t.string({
      required: true,
      description: '3 to 64 characters of a-z, A-Z, 0-9, ".", "_" and "-".',
    }),
    password: t.string({ required: true, description: 'At least 8 characters. It is never shown again.' }),
    email: t.string({ description: 'An e-mail address.' }),
    licenseKey: t.string({
      description: 'The key of the license to link; needed where the application requires one to register.',
    }),
  }),
});

const EndUserInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      applicationId: t.id({ required: true, description: 'The application.' }),
      userId: t.id({ required: true, description: 'The end user.' }),
    }),
  });

const endUserPayload = (name: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description: 'The end user as it is now.',
    fields: (t) => ({
      user: t.field({
        type: EndUser,
        description: 'The end user.',
        resolve: ({ id }, _args, context, info) => changedEndUser(id, context, info),
      }),
    }),
  });

const DeleteEndUserPayload = builder
  .objectRef<{ userId: string; applicationId: string }>('DeleteEndUserPayload')
  .implement({
    description: 'What is gone.',
    fields: (t) => ({
      deletedUserId: t.exposeID('userId', { description: 'The id it had.' }),
      application: t.field({
        type: Application,
        description: 'The application it was of.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

builder.mutationFields((t) => ({
  createEndUser: t.field({
    type: endUserPayload('CreateEndUserPayload'),
    nullable: true,
    description:
      "Makes an end user's account, without a client session. A license that was never used becomes active, and its duration starts; no device is bound. Errors: APP_NOT_FOUND, LICENSE_REQUIRED, LICENSE_NOT_FOUND, APP_MISMATCH, BANNED, EXPIRED, USERNAME_TAKEN.",
    args: { input: t.arg({ type: CreateEndUserInput, required: true, description: 'The new account.' }) },
    resolve: (_parent, { input: { applicationId, ...user } }, { service }) =>
      createEndUser({ ctx: service, input: { applicationId, user: parseInput(createEndUserInput, user) } }),
  }),
  deleteEndUser: t.field({
    type: DeleteEndUserPayload,
    nullable: true,
    description:
      "Removes an end user's account and sessions, and nothing else: the license and log entries stay. Errors: APP_NOT_FOUND, USER_NOT_FOUND.",
    args: {
      input: t.arg({
        type: EndUserInput('DeleteEndUserInput', 'An end user to remove.'),
        required: true,
        description: 'Whom.',
      }),
    },
    resolve: async (_parent, { input }, { service }) => {
      await deleteEndUser({ ctx: service, input });
      return input;
    },
  }),
  resetEndUserHwid: t.field({
    type: endUserPayload('ResetEndUserHwidPayload'),
    nullable: true,
    description:
      "Forgets an end user's device, and frees the linked license of the one it is bound to. Errors: APP_NOT_FOUND, USER_NOT_FOUND, LICENSE_BANNED, HWID_NOT_SET.",
    args: {
      input: t.arg({
        type: EndUserInput('ResetEndUserHwidInput', 'An end user whose device to forget.'),
        required: true,
        description: 'Whose.',
      }),
    },
    resolve: async (_parent, { input }, { service }) => {
      await resetEndUserHwid({ ctx: service, input });
      return { id: input.userId };
    },
  }),
}));
