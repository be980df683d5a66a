import { banLicense, banLicenseInput } from '../../services/license/ban.ts';
import { deleteLicense } from '../../services/license/delete.ts';
import { extendLicenses, extendLicensesInput } from '../../services/license/extend.ts';
import { resetLicenseHwid } from '../../services/license/reset-hwid.ts';
import { setTier, setTierInput } from '../../services/license/set-tier.ts';
import { builder } from '../builder.ts';
import { parseInput } from '../input.ts';
import { Application, findApplication } from './application.ts';
import { changedLicense, License } from './license.ts';

/** The payload of a mutation that changes one license. */
const licensePayload = (name: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description: 'The license as it is now.',
    fields: (t) => ({
      license: t.field({
        type: License,
        description: 'The license.',
        resolve: ({ id }, _args, context, info) => changedLicense(id, context, info),
      }),
    }),
  });

const banScope = builder.enumType('BanScope', {
  description: 'What a ban covers.',
  values: {
    license: { description: 'The license alone.' },
    hwid: { description: 'The license and the device it is bound to.' },
    hwid_and_ip: { description: 'The license, its device if it has one, and an address.' },
  } as const,
});

const BanLicenseInput = builder.inputType('BanLicenseInput', {
  description: 'A license to ban.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The license.' }),
    scope: t.field({ type: banScope, description: 'What the ban covers; the license alone when left out.' }),
    ip: t.string({
      description: 'With hwid_and_ip: the address to ban; the last one it was used from when left out.',
    }),
  }),
});

builder.mutationField('banLicense', (t) =>
  t.field({
    type: licensePayload('BanLicensePayload'),
    nullable: true,
    description: 'Bans a license. Errors: LICENSE_NOT_FOUND, HWID_NOT_SET, IP_NOT_KNOWN, LIMIT_REACHED.',
    args: {
      input: t.arg({
        type: BanLicenseInput,
        required: true,
        description: 'Which license, and what the ban covers.',
      }),
    },
    resolve: (_parent, { input: { id, ...ban } }, { service }) =>
      banLicense({ ctx: service, input: { id, ban: parseInput(banLicenseInput, ban) } }),
  }),
);

const SetLicenseTierInput = builder.inputType('SetLicenseTierInput', {
  description: 'A license, and its new tier.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The license.' }),
    subscriptionTier: t.int({ required: true, description: 'From 0; your program decides what it means.' }),
  }),
});

const ResetLicenseHwidInput = builder.inputType('ResetLicenseHwidInput', {
  description: 'A license to free of its device.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The license.' }) }),
});

const DeleteLicenseInput = builder.inputType('DeleteLicenseInput', {
  description: 'A license to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The license.' }) }),
});

const DeleteLicensePayload = builder.objectRef<{ id: string }>('DeleteLicensePayload').implement({
  description: 'What is gone.',
  fields: (t) => ({ deletedLicenseId: t.exposeID('id', { description: 'The id it had.' }) }),
});

const ExtendLicensesInput = builder.inputType('ExtendLicensesInput', {
  description: 'More time for the active licenses of an application.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application.' }),
    seconds: t.int({ required: true, description: 'How much: 1 to 315,619,200, about ten years.' }),
  }),
});

const ExtendLicensesPayload = builder
  .objectRef<{ extended: number; applicationId: string }>('ExtendLicensesPayload')
  .implement({
    description: 'What was done.',
    fields: (t) => ({
      extended: t.exposeInt('extended', { description: 'How many licenses got the time.' }),
      application: t.field({
        type: Application,
        description: 'The application, whose licenses to read anew.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

builder.mutationFields((t) => ({
  setLicenseTier: t.field({
    type: licensePayload('SetLicenseTierPayload'),
    nullable: true,
    description: "Sets a license's tier. Errors: LICENSE_NOT_FOUND.",
    args: {
      input: t.arg({ type: SetLicenseTierInput, required: true, description: 'Which, and its tier.' }),
    },
    resolve: (_parent, { input: { id, ...tier } }, { service }) =>
      setTier({ ctx: service, input: { id, ...parseInput(setTierInput, tier) } }),
  }),
  resetLicenseHwid: t.field({
    type: licensePayload('ResetLicenseHwidPayload'),
    nullable: true,
    description:
      'Frees a license of its device; the next validation or login binds another. Bans of the device stay. Errors: LICENSE_NOT_FOUND, LICENSE_BANNED, HWID_NOT_SET.',
    args: { input: t.arg({ type: ResetLicenseHwidInput, required: true, description: 'Which license.' }) },
    resolve: (_parent, { input: { id } }, { service }) => resetLicenseHwid({ ctx: service, input: { id } }),
  }),
  deleteLicense: t.field({
    type: DeleteLicensePayload,
    nullable: true,
    description:
      'Deletes a license for good; its users stay, without one. To refuse a customer, ban it instead. Errors: LICENSE_NOT_FOUND.',
    args: { input: t.arg({ type: DeleteLicenseInput, required: true, description: 'Which license.' }) },
    resolve: async (_parent, { input: { id } }, { service }) => {
      await deleteLicense({ ctx: service, input: { id } });
      return { id };
    },
  }),
  extendLicenses: t.field({
    type: ExtendLicensesPayload,
    nullable: true,
    description:
      'Gives every active license of an application that has an end, and has not reached it, more time: all of them, or none when one would end after 9999-12-31T23:59:59Z (VALIDATION_FAILED). Errors: APP_NOT_FOUND.',
    args: {
      input: t.arg({
        type: ExtendLicensesInput,
        required: true,
        description: 'Whose licenses, and how much.',
      }),
    },
    resolve: async (_parent, { input: { applicationId, ...time } }, { service }) => {
      const input = { applicationId, ...parseInput(extendLicensesInput, time) };
      return { applicationId, extended: await extendLicenses({ ctx: service, input }) };
    },
  }),
}));
