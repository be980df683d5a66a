import { deleteBan } from '../../services/ban/delete.ts';
import { banSelect } from '../../services/ban/list.ts';
import { banFilter, bansOfApplications, bansOfLicenses } from '../../services/ban/lists.ts';
import { builder } from '../builder.ts';
import { connectionComplexity, connectionType } from '../connection.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { Application, findApplication } from './application.ts';
import { findLicense, License } from './license.ts';

const banType = builder.enumType('BanType', {
  description: 'What a ban names.',
  values: {
    hwid: { description: 'A device.' },
    ip: { description: 'An address.' },
  } as const,
});

export const Ban = builder.prismaObject('Ban', {
  description: "A device or an address that an application's clients are refused from.",
  select: { ...banSelect, applicationId: true },
  fields: (t) => ({
    id: t.id({ description: 'UUID, the same as in REST.', resolve: ({ id }) => id }),
    banType: t.field({ type: banType, description: 'What it names.', resolve: (ban) => ban.banType }),
    value: t.string({ description: 'The banned HWID or address.', resolve: ({ value }) => value }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'Since when.',
      resolve: ({ createdAt }) => createdAt,
    }),
    application: t.field({
      ...reads('applicationId'),
      type: Application,
      description: 'The application whose clients are refused.',
      resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
    }),
    sourceLicense: t.field({
      ...reads('sourceLicenseId'),
      type: License,
      nullable: true,
      description: 'The license whose ban caused this one; null once it is deleted.',
      resolve: ({ sourceLicenseId }, _args, context, info) => findLicense(sourceLicenseId, context, info),
    }),
  }),
});

export const BanConnection = connectionType('BanConnection', Ban, 'bans');

const BanFilterInput = builder.inputType('BanFilter', {
  description: 'Which bans; each condition that is given has to hold.',
  fields: (t) => ({ banType: t.field({ type: banType, description: 'Those of devices, or of addresses.' }) }),
});

type BanShape = typeof Ban.$inferType;

builder.prismaObjectField('Application', 'bans', (t) =>
  t.field({
    type: BanConnection,
    description: 'Devices and addresses that its clients are refused from, newest first.',
    args: {
      ...t.arg.connectionArgs(),
      q: t.arg.string({ description: 'Substring of the banned HWID or address, in any case.' }),
      filter: t.arg({ type: BanFilterInput, description: 'Further conditions.' }),
    },
    complexity: connectionComplexity,
    ...listField<BanShape, typeof banFilter>(bansOfApplications, banFilter),
  }),
);

builder.prismaObjectField('License', 'bans', (t) =>
  t.field({
    type: BanConnection,
    description: 'The bans that its own ban caused, newest first.',
    args: t.arg.connectionArgs(),
    complexity: connectionComplexity,
    ...listField<BanShape, typeof banFilter>(bansOfLicenses, banFilter),
  }),
);

const DeleteBanInput = builder.inputType('DeleteBanInput', {
  description: 'A ban to lift.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application.' }),
    banId: t.id({ required: true, description: 'The ban.' }),
  }),
});

const DeleteBanPayload = builder
  .objectRef<{ banId: string; applicationId: string }>('DeleteBanPayload')
  .implement({
    description: 'What is gone.',
    fields: (t) => ({
      deletedBanId: t.exposeID('banId', { description: 'The id it had.' }),
      application: t.field({
        type: Application,
        description: 'The application it was of.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

builder.mutationField('deleteBan', (t) =>
  t.field({
    type: DeleteBanPayload,
    nullable: true,
    description:
      'Lifts the ban of a device or an address. The license that caused it stays banned. Errors: APP_NOT_FOUND, BAN_NOT_FOUND.',
    args: { input: t.arg({ type: DeleteBanInput, required: true, description: 'Which ban.' }) },
    resolve: async (_parent, { input }, { service }) => {
      await deleteBan({ ctx: service, input });
      return input;
    },
  }),
);
