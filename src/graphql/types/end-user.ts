import { createEndUser } from '../../services/end-user/create.ts';
import { deleteEndUser } from '../../services/end-user/delete.ts';
import { endUserTable, usersOfApplications, usersOfLicenses } from '../../services/end-user/lists.ts';
import { resetEndUserHwid } from '../../services/end-user/reset-hwid.ts';
import { type EndUserRow, endUserSelect } from '../../services/end-user/view.ts';
import { userNotFound } from '../../services/errors.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { withInput, withoutNulls } from '../input.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { toChanged, toExactlyOne, toOne } from '../to-one.ts';
import { Application, findApplication } from './application.ts';
import { findLicense, License } from './license.ts';
import { Node } from './node.ts';

export const EndUser = builder.prismaObject('EndUser', {
  description: "A customer's account in one application.",
  interfaces: [Node],
  select: endUserSelect,
});

builder.objectFields(EndUser, (t) => ({
  username: t.exposeString('username', {
    description: '3 to 64 characters of a-z, A-Z, 0-9, ".", "_" and "-"; unique within the application.',
  }),
  email: t.exposeString('email', {
    nullable: true,
    description: 'The email address as entered; null if not given.',
  }),
  subscriptionTier: t.int({
    ...reads('license'),
    nullable: true,
    description: 'The tier of the linked license; null without a license.',
    resolve: ({ license }) => license?.subscriptionTier ?? null,
  }),
  lastIp: t.exposeString('lastIp', {
    nullable: true,
    description: 'The IP address of the last login; null before the first login.',
  }),
  lastHwid: t.exposeString('lastHwid', {
    nullable: true,
    description: 'The device of the last login; null if the client sent none, or after a reset.',
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the account was created.' }),
  updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  application: t.field({
    ...reads('applicationId'),
    type: Application,
    description: 'The application that the account belongs to.',
    resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
  }),
  license: t.field({
    ...reads('licenseId'),
    type: License,
    nullable: true,
    description: 'The linked license; null if no license is linked.',
    resolve: ({ licenseId }, _args, context, info) => findLicense(licenseId, context, info),
  }),
}));

/** An end user that another row refers to; null if the account was deleted. */
export const findEndUser = toOne<EndUserRow>(endUserTable);
const findOneEndUser = toExactlyOne<EndUserRow>(endUserTable, userNotFound);
const changedEndUser = toChanged<EndUserRow>(endUserTable, userNotFound);

builder.queryField('endUser', (t) =>
  t.field({
    type: EndUser,
    nullable: true,
    description: 'An end user of one of your applications. Null comes with a USER_NOT_FOUND error.',
    args: { id: t.arg.id({ required: true, description: 'The id of the end user.' }) },
    resolve: (_parent, { id }, context, info) => findOneEndUser(id, context, info),
  }),
);

export const EndUserConnection = connectionType('EndUserConnection', EndUser, 'end users');

const EndUserFilterInput = builder.inputType('EndUserFilter', {
  description: 'Filters end users. All given conditions must hold.',
  fields: (t) => ({
    hasLicense: t.boolean({ description: 'True: end users with a license. False: the others.' }),
    subscriptionTiers: t.intList({
      description: 'End users whose license has one of these tiers; at most 100 tiers.',
    }),
    hasHwid: t.boolean({ description: 'True: end users whose last device is known. False: the others.' }),
  }),
});

const endUserConditions = builder.args((t) => ({
  q: t.string({
    description: 'Case-insensitive substring of username, email address, last IP address or last HWID.',
  }),
  filter: t.field({ type: EndUserFilterInput, description: 'Filters the list.' }),
}));

builder.objectField(Application, 'users', (t) =>
  t.field({
    type: EndUserConnection,
    description: 'The end users, newest first.',
    args: { ...t.arg.connectionArgs(), ...endUserConditions },
    ...listField<EndUserRow>(usersOfApplications),
  }),
);

builder.objectField(License, 'users', (t) =>
  t.field({
    type: EndUserConnection,
    description: 'The end users with this license, newest first.',
    args: { ...t.arg.connectionArgs(), ...endUserConditions },
    ...listField<EndUserRow>(usersOfLicenses),
  }),
);

const CreateEndUserInput = builder.inputType('CreateEndUserInput', {
  description: 'A new end user.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application that the account belongs to.' }),
    username: t.string({
      required: true,
      description: '3 to 64 characters of a-z, A-Z, 0-9, ".", "_" and "-".',
    }),
    password: t.string({ required: true, description: 'At least 8 characters. It is never shown again.' }),
    email: t.string({ description: 'An email address.' }),
    licenseKey: t.string({
      description: 'The key of the license to link; required if the application requires one to register.',
    }),
  }),
});

const EndUserInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      applicationId: t.id({ required: true, description: 'The id of the application.' }),
      userId: t.id({ required: true, description: 'The id of the end user.' }),
    }),
  });

const endUserPayload = (name: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description: 'The end user after the change.',
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
    description: 'The deleted end user.',
    fields: (t) => ({
      deletedUserId: t.exposeID('userId', { description: 'The id of the deleted end user.' }),
      application: t.field({
        type: Application,
        description: 'The application that the account belonged to.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

builder.mutationFields((t) => ({
  createEndUser: t.field({
    type: endUserPayload('CreateEndUserPayload'),
    ...withInput(CreateEndUserInput, 'The new end user.'),
    description:
      "Creates an end user's account, without a client session. An unused license becomes active and its term starts; no device is bound. Errors: APP_NOT_FOUND, LICENSE_REQUIRED, LICENSE_NOT_FOUND, APP_MISMATCH, BANNED, SUSPENDED, EXPIRED, USERNAME_TAKEN.",
    resolve: (_parent, { input: { applicationId, ...user } }, { service }) =>
      createEndUser({ ctx: service, input: { applicationId, user: withoutNulls(user) } }),
  }),
  deleteEndUser: t.field({
    type: DeleteEndUserPayload,
    ...withInput(EndUserInput('DeleteEndUserInput', 'The end user to delete.'), 'The end user.'),
    description:
      "Deletes an end user's account and sessions. The license and the log entries remain. Errors: APP_NOT_FOUND, USER_NOT_FOUND.",
    resolve: async (_parent, { input }, { service }) => {
      await deleteEndUser({ ctx: service, input });
      return input;
    },
  }),
  resetEndUserHwid: t.field({
    type: endUserPayload('ResetEndUserHwidPayload'),
    ...withInput(
      EndUserInput('ResetEndUserHwidInput', 'The end user whose device to clear.'),
      'The end user.',
    ),
    description:
      "Clears an end user's device and unbinds the linked license from its device. Errors: APP_NOT_FOUND, USER_NOT_FOUND, LICENSE_BANNED, HWID_NOT_SET.",
    resolve: async (_parent, { input }, { service }) => {
      await resetEndUserHwid({ ctx: service, input });
      return { id: input.userId };
    },
  }),
}));
