import { banLicense, banLicenseInput } from '../../services/license/ban.ts';
import {
  createLicenses,
  createLicensesInput,
  type MintedLicense,
  type MintedLicenses,
} from '../../services/license/create.ts';
import { shownStatus } from '../../services/license/view.ts';
import { builder } from '../builder.ts';
import { parseInput } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';
import { Application } from './application.ts';

const licenseStatus = builder.enumType('LicenseStatus', {
  description: 'Where a license stands.',
  values: {
    unused: { description: 'Never used; its term has not begun.' },
    active: { description: 'In use.' },
    expired: { description: 'Its term is over.' },
    banned: { description: 'Refused by its developer.' },
  } as const,
});

export const License = builder.prismaObject('License', {
  description: 'A license key of an application. The key itself is shown once, when it is minted.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'UUID, the same as in REST.' }),
    keyPrefix: t.exposeString('keyPrefix', { description: 'The start of the key, to tell keys apart.' }),
    status: t.field({
      type: licenseStatus,
      description: 'Where it stands at this moment.',
      select: { status: true, expiresAt: true },
      resolve: (license, _args, { service }) => shownStatus(license, new Date(service.env.clock.now())),
    }),
    subscriptionTier: t.exposeInt('subscriptionTier', {
      description: 'From 0; your program decides what it means.',
    }),
    durationSeconds: t.exposeInt('durationSeconds', { description: 'From first use; 0 never ends.' }),
    activatedAt: t.expose('activatedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'First use; null before it.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Null when it has not begun, or never ends.',
    }),
    hwid: t.exposeString('hwid', {
      nullable: true,
      description: 'The device it is bound to; null when to none.',
    }),
    lastIp: t.exposeString('lastIp', {
      nullable: true,
      description: 'The address it was last used from; null when it was not used yet.',
    }),
    note: t.exposeString('note', { nullable: true, description: 'Your note; null when there is none.' }),
    noteCiphertextB64: t.exposeString('noteCiphertextB64', {
      nullable: true,
      description: 'In private mode: the note, encrypted in the browser; null when there is none.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was minted.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
    application: t.relation('application', { description: 'The application it is for.' }),
  }),
});

const MintedLicenseType = builder.objectRef<MintedLicense>('MintedLicense').implement({
  description: 'A key that was just minted. This is the one time that it is shown.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The license's id." }),
    licenseKey: t.exposeString('licenseKey', { description: 'The key in the clear.' }),
    keyPrefix: t.exposeString('keyPrefix', { description: 'The start of the key, which stays visible.' }),
    durationSeconds: t.exposeInt('durationSeconds', { description: 'From first use; 0 never ends.' }),
    subscriptionTier: t.exposeInt('subscriptionTier', { description: 'From 0.' }),
  }),
});

const CreateLicensesInput = builder.inputType('CreateLicensesInput', {
  description: 'License keys to mint.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application they are for.' }),
    amount: t.int({ required: true, description: '1 to 10,000.' }),
    durationSeconds: t.int({
      required: true,
      description: 'How long each lasts from its first use; 0 never ends.',
    }),
    subscriptionTier: t.int({ description: 'From 0, which it is when left out.' }),
    mask: t.string({
      description: "Pattern in which each X becomes a random character; the account's own when left out.",
    }),
    note: t.string({ description: '1 to 1000 characters, for yourself.' }),
  }),
});

const CreateLicensesPayload = builder
  .objectRef<MintedLicenses & { applicationId: string }>('CreateLicensesPayload')
  .implement({
    description: 'The keys. Store them before you go on: they are not shown again.',
    fields: (t) => ({
      keys: t.field({
        type: [MintedLicenseType],
        description: 'The keys.',
        // `createLicenses` counts them, as it is told how many.
        complexity: { field: 1, multiplier: 1 },
        resolve: ({ keys }) => [...keys],
      }),
      warning: t.exposeString('warning', { description: 'What to mind about them.' }),
      application: t.field({
        type: Application,
        description: 'The application they are for.',
        resolve: ({ applicationId }) => ({ id: applicationId }),
      }),
    }),
  });

builder.mutationField('createLicenses', (t) =>
  t.field({
    ...rateLimited('licenseCreate'),
    type: CreateLicensesPayload,
    nullable: true,
    description: 'Mints license keys. Errors: APP_NOT_FOUND, PRIVATE_MODE.',
    args: { input: t.arg({ type: CreateLicensesInput, required: true, description: 'What to mint.' }) },
    // A tenth for each key: it is in memory already, and one batch of the largest must be readable whole.
    complexity: ({ input: { amount } }) => ({
      field: 1,
      multiplier: Math.ceil(Math.min(Math.max(amount, 1), 10_000) / 10),
    }),
    resolve: async (_parent, args, { service }) => {
      const input = parseInput(createLicensesInput, args.input);
      const minted = await createLicenses({ ctx: service, input });
      return { ...minted, applicationId: input.applicationId };
    },
  }),
);

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

const BanLicensePayload = builder.objectRef<{ id: string }>('BanLicensePayload').implement({
  description: 'The license as it is now.',
  fields: (t) => ({
    license: t.field({ type: License, description: 'The license.', resolve: (license) => license }),
  }),
});

builder.mutationField('banLicense', (t) =>
  t.field({
    type: BanLicensePayload,
    nullable: true,
    description: 'Bans a license. Errors: LICENSE_NOT_FOUND, HWID_NOT_SET, IP_NOT_KNOWN.',
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
