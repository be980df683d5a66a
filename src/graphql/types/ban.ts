import { deleteBan } from '../../services/ban/delete.ts';
import { bansOfApplications, bansOfLicenses } from '../../services/ban/lists.ts';
import { type BanRow, banSelect } from '../../services/ban/view.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { withInput } from '../input.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { Application, findApplication } from './application.ts';
import { findLicense, License } from './license.ts';
import { Node } from './node.ts';

const banType = builder.enumType('BanType', {
  description: 'What a ban blocks.',
  values: {
    hwid: { description: 'A device.' },
    ip: { description: 'An IP address.' },
  } as const,
});

export const Ban = builder.prismaObject('Ban', {
  description: "A device or an IP address that is blocked from an application's client requests.",
  interfaces: [Node],
  select: { ...banSelect, applicationId: true },
});

builder.objectFields(Ban, (t) => ({
  banType: t.expose('banType', { type: banType, description: 'What is blocked.' }),
  value: t.exposeString('value', { description: 'The banned HWID or IP address.' }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was banned.' }),
  application: t.field({
    ...reads('applicationId'),
    type: Application,
    description: 'The application that the ban is for.',
    resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
  }),
  sourceLicense: t.field({
    ...reads('sourceLicenseId'),
    type: License,
    nullable: true,
    description: 'The license whose ban created this one; null once that license is deleted.',
    resolve: ({ sourceLicenseId }, _args, context, info) => findLicense(sourceLicenseId, context, info),
  }),
}));

export const BanConnection = connectionType('BanConnection', Ban, 'bans');

const BanFilterInput = builder.inputType('BanFilter', {
  description: 'Filters bans. All given conditions must hold.',
  fields: (t) => ({ banType: t.field({ type: banType, description: 'Bans of this type.' }) }),
});

builder.objectField(Application, 'bans', (t) =>
  t.field({
    type: BanConnection,
    description: 'Devices and IP addresses that are blocked, newest first.',
    args: {
      ...t.arg.connectionArgs(),
      q: t.arg.string({ description: 'Case-insensitive substring of the banned HWID or IP address.' }),
      filter: t.arg({ type: BanFilterInput, description: 'Filters the list.' }),
    },
    ...listField<BanRow>(bansOfApplications),
  }),
);

builder.objectField(License, 'bans', (t) =>
  t.field({
    type: BanConnection,
    description: 'Bans that the ban of this license created, newest first.',
    args: t.arg.connectionArgs(),
    ...listField<BanRow>(bansOfLicenses),
  }),
);

const DeleteBanInput = builder.inputType('DeleteBanInput', {
  description: 'The ban to lift.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The id of the application.' }),
    banId: t.id({ required: true, description: 'The id of the ban.' }),
  }),
});

const DeleteBanPayload = builder
  .objectRef<{ banId: string; applicationId: string }>('DeleteBanPayload')
  .implement({
    description: 'The lifted ban.',
    fields: (t) => ({
      deletedBanId: t.exposeID('banId', { description: 'The id of the lifted ban.' }),
      application: t.field({
        type: Application,
        description: 'The application that the ban was for.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

builder.mutationField('deleteBan', (t) =>
  t.field({
    type: DeleteBanPayload,
    ...withInput(DeleteBanInput, 'The ban to lift.'),
    description:
      'Lifts the ban of a device or an IP address. The license whose ban created it stays banned. Errors: APP_NOT_FOUND, BAN_NOT_FOUND.',
    resolve: async (_parent, { input }, { service }) => {
      await deleteBan({ ctx: service, input });
      return input;
    },
  }),
);
