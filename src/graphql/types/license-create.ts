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
import { parseInput } from '../../services/parse-input.ts';
import { builder } from '../builder.ts';
import { withInput } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';
import { Application, findApplication } from './application.ts';
import { givenTerms, termsFields } from './license-terms.ts';
import { PolicyStart } from './policy.ts';

/** Keys cost a tenth each: they are in memory already, and the largest batch must be readable in one document. */
const tenthOf = (amount: number): number => Math.ceil(Math.min(Math.max(amount, 1), 10_000) / 10);

const MintedLicenseType = builder.objectRef<MintedLicense>('MintedLicense').implement({
  description: 'A new license with its key. The key is shown only once.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the license.' }),
    licenseKey: t.exposeString('licenseKey', {
      description: 'The key in plain text. It is shown only once.',
    }),
    keyPrefix: t.exposeString('keyPrefix', {
      description: 'The first characters of the key.',
    }),
    durationSeconds: t.exposeInt('durationSeconds', {
      description: 'The term in seconds, counted from first use; 0 means unlimited.',
    }),
    subscriptionTier: t.exposeInt('subscriptionTier', { description: 'The tier, from 0.' }),
  }),
});

const CreateLicensesInput = builder.inputType('CreateLicensesInput', {
  description: 'The licenses to create.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application that they are for.' }),
    amount: t.int({ required: true, description: 'The number of licenses: 1 to 10,000.' }),
    policyId: t.id({ description: 'The policy whose values are copied, except those that are given here.' }),
    durationSeconds: t.int({
      description: 'The term of each in seconds; 0 means unlimited. Required without a policy.',
    }),
    startsAt: t.field({ type: PolicyStart, description: 'What starts the term; first_use by default.' }),
    ...termsFields(t),
    tags: t.stringList({ description: 'Tags for filtering; at most 20.' }),
    mask: t.string({
      description:
        "A pattern in which each X becomes a random character; by default the policy's mask, or the account's.",
    }),
    note: t.string({ description: 'A note for yourself: 1 to 1000 characters.' }),
  }),
});

const CreateLicensesPayload = builder
  .objectRef<MintedLicenses & { applicationId: string }>('CreateLicensesPayload')
  .implement({
    description: 'The new keys. Store them now: they are not shown again.',
    fields: (t) => ({
      keys: t.field({
        type: [MintedLicenseType],
        description: 'The new licenses with their keys.',
        // `createLicenses` charges for them, as it knows their number.
        complexity: { field: 1, multiplier: 1 },
        resolve: ({ keys }) => [...keys],
      }),
      warning: t.exposeString('warning', {
        description: 'How to store the keys, and whether the mask is weak.',
      }),
      application: t.field({
        type: Application,
        // If reading it failed, the keys would be lost with it.
        nullable: true,
        description:
          'The application that they are for. Null comes with an error; the keys are valid even then.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

builder.mutationField('createLicenses', (t) =>
  t.field({
    ...rateLimited('licenseCreate'),
    type: CreateLicensesPayload,
    ...withInput(CreateLicensesInput, 'The licenses.'),
    description:
      'Creates licenses: all of them or none. Errors: APP_NOT_FOUND, POLICY_NOT_FOUND, PRIVATE_MODE, RATE_LIMITED (also if the account creates too many licenses in a minute).',
    complexity: ({ input: { amount } }) => ({ field: 1, multiplier: tenthOf(amount) }),
    resolve: async (_parent, { input }, { service }) => {
      const minted = await createLicenses({
        ctx: service,
        input: parseInput(createLicensesInput, givenTerms(input)),
      });
      return { ...minted, applicationId: input.applicationId };
    },
  }),
);

const BlindLicenseKeyInput = builder.inputType('BlindLicenseKeyInput', {
  description: 'A license whose key the browser generated; the key itself is not sent.',
  fields: (t) => ({
    licenseKeyHash: t.string({
      required: true,
      description: "SHA-256 of the key's UTF-8 text, as 64 hexadecimal digits.",
    }),
    licenseKeyPrefix: t.string({
      required: true,
      description: 'The first 1 to 64 characters of the key; never the whole key.',
    }),
    durationSeconds: t.int({
      description: 'The term in seconds; 0 means unlimited. By default that of the batch.',
    }),
    subscriptionTier: t.int({ description: 'The tier, from 0; by default that of the batch.' }),
    noteCiphertextB64: t.string({ description: 'Base64 of the note, encrypted in the browser.' }),
  }),
});

const CreateBlindLicensesInput = builder.inputType('CreateBlindLicensesInput', {
  description: 'Licenses whose keys the browser generated.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The application that they are for.' }),
    keys: t.field({ type: [BlindLicenseKeyInput], required: true, description: '1 to 10,000 keys.' }),
    policyId: t.id({ description: 'The policy whose values are copied, except those that are given here.' }),
    durationSeconds: t.int({
      description: 'The term of keys that name none. Required without a policy if there are any.',
    }),
    startsAt: t.field({ type: PolicyStart, description: 'What starts the term; first_use by default.' }),
    ...termsFields(t),
    tags: t.stringList({ description: 'Tags for filtering; at most 20.' }),
    mask: t.string({ description: 'The mask that the keys were generated from; a weak mask is rejected.' }),
  }),
});

const BlindLicenseType = builder.objectRef<BlindLicense>('BlindLicense').implement({
  description: 'A new license whose key the service has never seen.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the license.' }),
    keyPrefix: t.exposeString('keyPrefix', { description: 'The first characters of the key.' }),
    durationSeconds: t.exposeInt('durationSeconds', {
      description: 'The term in seconds, counted from first use; 0 means unlimited.',
    }),
    subscriptionTier: t.exposeInt('subscriptionTier', { description: 'The tier, from 0.' }),
  }),
});

const CreateBlindLicensesPayload = builder
  .objectRef<{ keys: readonly BlindLicense[]; applicationId: string }>('CreateBlindLicensesPayload')
  .implement({
    description: 'The new licenses.',
    fields: (t) => ({
      keys: t.field({
        type: [BlindLicenseType],
        description: 'The licenses in the order of the input.',
        complexity: { field: 1, multiplier: 1 },
        resolve: ({ keys }) => [...keys],
      }),
      application: t.field({
        type: Application,
        nullable: true,
        description:
          'The application that they are for. Null comes with an error; the licenses are stored even then.',
        resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
      }),
    }),
  });

builder.mutationField('createBlindLicenses', (t) =>
  t.field({
    ...rateLimited('blindCreate'),
    type: CreateBlindLicensesPayload,
    ...withInput(CreateBlindLicensesInput, 'The licenses.'),
    description:
      'Stores licenses whose keys were generated in the browser (private mode): all of them or none. Errors: APP_NOT_FOUND, POLICY_NOT_FOUND, and KEY_EXISTS, whose issues name the keys that already exist.',
    complexity: ({ input: { keys } }) => ({ field: 1, multiplier: tenthOf(keys.length) }),
    resolve: async (_parent, { input }, { service }) => ({
      applicationId: input.applicationId,
      keys: await createBlindLicenses({
        ctx: service,
        input: parseInput(createBlindInput, givenTerms(input)),
      }),
    }),
  }),
);
