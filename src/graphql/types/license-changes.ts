import { type IssuedOfflineLease, issueOfflineLease } from '../../services/lease/issue-offline.ts';
import { banLicense } from '../../services/license/ban.ts';
import { deleteLicense } from '../../services/license/delete.ts';
import { extendLicenses } from '../../services/license/extend.ts';
import { resetLicenseHwid } from '../../services/license/reset-hwid.ts';
import { setTier } from '../../services/license/set-tier.ts';
import { builder } from '../builder.ts';
import { withInput, withoutNulls } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';
import { Application, findApplication } from './application.ts';
import { changedLicense, License } from './license.ts';

/** The payload of a mutation that changes one license. */
export const licensePayload = (name: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description: 'The license after the change.',
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
    license: { description: 'Only the license.' },
    hwid: { description: 'The license and its devices whose HWID is known.' },
    hwid_and_ip: { description: 'The license, its devices whose HWID is known, and an IP address.' },
  } as const,
});

const BanLicenseInput = builder.inputType('BanLicenseInput', {
  description: 'The license to ban.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the license.' }),
    scope: t.field({ type: banScope, description: 'What the ban covers; by default only the license.' }),
    ip: t.string({
      description:
        'With hwid_and_ip: the IP address to ban; by default the one that the license was last used from.',
    }),
  }),
});

builder.mutationField('banLicense', (t) =>
  t.field({
    type: licensePayload('BanLicensePayload'),
    ...withInput(BanLicenseInput, 'The license and the scope.'),
    description: 'Bans a license. Errors: LICENSE_NOT_FOUND, HWID_NOT_SET, IP_NOT_KNOWN, LIMIT_REACHED.',
    resolve: (_parent, { input: { id, ...ban } }, { service }) =>
      banLicense({ ctx: service, input: { id, ban: withoutNulls(ban) } }),
  }),
);

const SetLicenseTierInput = builder.inputType('SetLicenseTierInput', {
  description: 'A license and its new tier.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the license.' }),
    subscriptionTier: t.int({ required: true, description: 'From 0; your program decides what it means.' }),
  }),
});

const ResetLicenseHwidInput = builder.inputType('ResetLicenseHwidInput', {
  description: 'The license to unbind from its device.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The id of the license.' }) }),
});

const IssueOfflineLeaseInput = builder.inputType('IssueOfflineLeaseInput', {
  description: 'A device without a network, and the license that it uses.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the license.' }),
    deviceRequest: t.string({
      required: true,
      description: 'The text that the device shows. It begins with `LKQ2.`.',
    }),
    days: t.int({ description: "The term in days: 1 to 30; by default the application's leaseDays." }),
  }),
});

const IssueOfflineLeasePayload = builder.objectRef<IssuedOfflineLease>('IssueOfflineLeasePayload').implement({
  description: 'The lease.',
  fields: (t) => ({
    lease: t.exposeString('lease', { description: 'The text to bring to the device.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends.' }),
    license: t.field({
      type: License,
      description: 'The license.',
      resolve: ({ licenseId }, _args, context, info) => changedLicense(licenseId, context, info),
    }),
  }),
});

const DeleteLicenseInput = builder.inputType('DeleteLicenseInput', {
  description: 'The license to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The id of the license.' }) }),
});

const DeleteLicensePayload = builder.objectRef<{ id: string }>('DeleteLicensePayload').implement({
  description: 'The deleted license.',
  fields: (t) => ({ deletedLicenseId: t.exposeID('id', { description: 'The id of the deleted license.' }) }),
});

const ExtendLicensesInput = builder.inputType('ExtendLicensesInput', {
  description: 'The extension of the active licenses of an application.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The id of the application.' }),
    seconds: t.int({
      required: true,
      description: 'The number of seconds: 1 to 315,619,200 (about ten years).',
    }),
  }),
});

const ExtendLicensesPayload = builder
  .objectRef<{ extended: number; applicationId: string }>('ExtendLicensesPayload')
  .implement({
    description: 'The result of the extension.',
    fields: (t) => ({
      extended: t.exposeInt('extended', { description: 'The number of extended licenses.' }),
      application: t.field({
        type: Application,
        description: 'The application. Its licenses have their new terms.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

builder.mutationFields((t) => ({
  setLicenseTier: t.field({
    type: licensePayload('SetLicenseTierPayload'),
    ...withInput(SetLicenseTierInput, 'The license and its tier.'),
    description: "Sets a license's tier. Errors: LICENSE_NOT_FOUND.",
    resolve: (_parent, { input }, { service }) => setTier({ ctx: service, input }),
  }),
  resetLicenseHwid: t.field({
    type: licensePayload('ResetLicenseHwidPayload'),
    ...withInput(ResetLicenseHwidInput, 'The license.'),
    description:
      'Unbinds a license from its device. Status, expiry and activation are unchanged, and so are bans of the device. The next validation or login binds a device again. Errors: LICENSE_NOT_FOUND, LICENSE_BANNED, HWID_NOT_SET.',
    resolve: (_parent, { input }, { service }) => resetLicenseHwid({ ctx: service, input }),
  }),
  issueOfflineLease: t.field({
    ...rateLimited('licenseCreate'),
    type: IssueOfflineLeasePayload,
    ...withInput(IssueOfflineLeaseInput, 'The license and the device.'),
    description:
      'Issues a lease for a device without a network. As with a validation, an unused license becomes active, and if the application locks licenses to devices, one with room is bound to the device. Does not depend on leasesEnabled. Errors: LICENSE_NOT_FOUND, APP_MISMATCH, BANNED, SUSPENDED, EXPIRED, DEVICE_RELEASED, HWID_MISMATCH, DEVICE_LIMIT, HWID_BANNED.',
    resolve: (_parent, { input }, { service }) =>
      issueOfflineLease({ ctx: service, input: withoutNulls(input) }),
  }),
  deleteLicense: t.field({
    type: DeleteLicensePayload,
    ...withInput(DeleteLicenseInput, 'The license.'),
    description:
      'Deletes a license permanently. Its end users remain, without a license. To block a customer, ban the license instead. Errors: CONFIRMATION_REQUIRED, LICENSE_NOT_FOUND.',
    resolve: async (_parent, { input }, { service }) => {
      await deleteLicense({ ctx: service, input });
      return input;
    },
  }),
  extendLicenses: t.field({
    type: ExtendLicensesPayload,
    ...withInput(ExtendLicensesInput, 'The application and the extension.'),
    description:
      'Extends all active licenses of an application whose term is limited and has not ended. If one would then end after 9999-12-31T23:59:59Z, none is extended (VALIDATION_FAILED). Errors: APP_NOT_FOUND.',
    resolve: async (_parent, { input }, { service }) => ({
      applicationId: input.applicationId,
      extended: await extendLicenses({ ctx: service, input }),
    }),
  }),
}));
