import {
  createLicenses,
  createLicensesInput,
  type MintedLicense,
  type MintedLicenses,
} from '../../services/license/create.ts';
import {
  type BlindLicense,
  createBlindInput,
  createBlindLicenses,
} from '../../services/license/create-blind.ts';
import { builder } from '../builder.ts';
import { parseInput } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';
import { Application, findApplication } from './application.ts';

/** A tenth for each key: it is in memory already, and one batch of the largest must be readable whole. */
const tenthOf = (amount: number): number => Math.ceil(Math.min(Math.max(amount, 1), 10_000) / 10);

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
        // A failure to read it must not take the keys with it.
        nullable: true,
        description:
          'The application they are for. Null comes with an error; the keys are good all the same.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

builder.mutationField('createLicenses', (t) =>
  t.field({
    ...rateLimited('licenseCreate'),
    type: CreateLicensesPayload,
    nullable: true,
    description:
      'Mints license keys: all of them or none. Errors: APP_NOT_FOUND, PRIVATE_MODE, RATE_LIMITED (also for too many licenses of your account in a minute).',
    args: { input: t.arg({ type: CreateLicensesInput, required: true, description: 'What to mint.' }) },
    complexity: ({ input: { amount } }) => ({ field: 1, multiplier: tenthOf(amount) }),
    resolve: async (_parent, args, { service }) => {
      const input = parseInput(createLicensesInput, args.input);
      const minted = await createLicenses({ ctx: service, input });
      return { ...minted, applicationId: input.applicationId };
    },
  }),
);

const BlindLicenseKeyInput = builder.inputType('BlindLicenseKeyInput', {
  description: 'A license key that the browser has made, without the key.',
  fields: (t) => ({
    licenseKeyHash: t.string({
      required: true,
      description: "SHA-256 of the key's UTF-8 text, as 64 hexadecimal characters.",
    }),
    licenseKeyPrefix: t.string({
      required: true,
      description: 'The start of the key, to tell keys apart: 1 to 64 characters, never the whole key.',
    }),
    durationSeconds: t.int({
      required: true,
      description: 'How long it lasts from its first use; 0 never ends.',
    }),
    subscriptionTier: t.int({ description: "From 0; the batch's own when left out." }),
    noteCiphertextB64: t.string({ description: 'The note, encrypted in the browser, in base64.' }),
  }),
});

const CreateBlindLicensesInput = builder.inputType('CreateBlindLicensesInput', {
  description: 'License keys that the browser has made.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application they are for.' }),
    keys: t.field({ type: [BlindLicenseKeyInput], required: true, description: '1 to 10,000 keys.' }),
    subscriptionTier: t.int({ description: 'Of keys that state none; 0 when left out.' }),
    mask: t.string({ description: 'The pattern that the keys were made after: a weak one is refused.' }),
  }),
});

const BlindLicenseType = builder.objectRef<BlindLicense>('BlindLicense').implement({
  description: 'A license whose key the service has never seen.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The license's id." }),
    keyPrefix: t.exposeString('keyPrefix', { description: 'The start of the key.' }),
    durationSeconds: t.exposeInt('durationSeconds', { description: 'From first use; 0 never ends.' }),
    subscriptionTier: t.exposeInt('subscriptionTier', { description: 'From 0.' }),
  }),
});

const CreateBlindLicensesPayload = builder
  .objectRef<{ keys: readonly BlindLicense[]; applicationId: string }>('CreateBlindLicensesPayload')
  .implement({
    description: 'What was stored: all of the keys.',
    fields: (t) => ({
      keys: t.field({
        type: [BlindLicenseType],
        description: 'The licenses, in the order of the input.',
        complexity: { field: 1, multiplier: 1 },
        resolve: ({ keys }) => [...keys],
      }),
      application: t.field({
        type: Application,
        nullable: true,
        description:
          'The application they are for. Null comes with an error; the keys are stored all the same.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

builder.mutationField('createBlindLicenses', (t) =>
  t.field({
    ...rateLimited('blindCreate'),
    type: CreateBlindLicensesPayload,
    nullable: true,
    description:
      'Stores licenses whose keys were made in the browser (private mode): all of them or none. Errors: APP_NOT_FOUND, and KEY_EXISTS, whose issues name the keys that exist already.',
    args: {
      input: t.arg({ type: CreateBlindLicensesInput, required: true, description: 'What to store.' }),
    },
    complexity: ({ input: { keys } }) => ({ field: 1, multiplier: tenthOf(keys.length) }),
    resolve: async (_parent, args, { service }) => {
      const input = parseInput(createBlindInput, args.input);
      const keys = await createBlindLicenses({ ctx: service, input });
      return { keys, applicationId: input.applicationId };
    },
  }),
);
