import { reinstateLicense } from '../../services/license/reinstate.ts';
import { renewLicense } from '../../services/license/renew.ts';
import { rotateLicenseKey } from '../../services/license/rotate-key.ts';
import { suspendLicense } from '../../services/license/suspend.ts';
import { unbanLicense } from '../../services/license/unban.ts';
import { updateLicense } from '../../services/license/update.ts';
import { builder } from '../builder.ts';
import { withInput, withoutNulls } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';
import { changedLicense, License } from './license.ts';
import { licensePayload } from './license-changes.ts';
import { givenTerms, termsFields } from './license-terms.ts';

const UpdateLicenseInput = builder.inputType('UpdateLicenseInput', {
  description:
    'A license, and at least one member to change. Entitlements, metadata and tags are replaced as a whole.',
  fields: (t) => {
    const { subscriptionTier: _, ...terms } = termsFields(t);
    return {
      id: t.id({ required: true, description: 'The id of the license.' }),
      ...terms,
      tags: t.stringList({ description: 'Tags for filtering; at most 20.' }),
      note: t.string({ description: 'A note for yourself: 1 to 1000 characters; null removes it.' }),
      noteCiphertextB64: t.string({
        description: 'Base64 of the note, encrypted in the browser; null removes it.',
      }),
      expiresAt: t.field({
        type: 'DateTime',
        description: 'When its term ends, at the latest 9999-12-31T23:59:59Z; null: never.',
      }),
    };
  },
});

const UnbanLicenseInput = builder.inputType('UnbanLicenseInput', {
  description: 'The license whose ban to lift.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the license.' }),
    removeBans: t.boolean({
      description:
        'Whether the bans of devices and IP addresses that banning this license made are lifted, too; false by default.',
    }),
  }),
});

const SuspendLicenseInput = builder.inputType('SuspendLicenseInput', {
  description: 'The license to suspend.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the license.' }),
    reason: t.string({ description: 'A note for yourself: 1 to 200 characters. Customers are not told.' }),
    stopClock: t.boolean({ description: 'Whether the remaining term is kept; false by default.' }),
  }),
});

const ReinstateLicenseInput = builder.inputType('ReinstateLicenseInput', {
  description: 'The license whose suspension to end.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The id of the license.' }) }),
});

const renewalBasis = builder.enumType('RenewalBasis', {
  description: 'Where the seconds of a renewal begin.',
  values: {
    from_expiry: { description: 'At the old expiry.' },
    from_now: { description: 'Now, even if the license then ends earlier than before.' },
    from_now_if_expired: { description: 'Now if the license has expired, otherwise at its expiry.' },
  } as const,
});

const RenewLicenseInput = builder.inputType('RenewLicenseInput', {
  description: 'The license to renew.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the license.' }),
    seconds: t.int({ required: true, description: 'The number of seconds, from 1.' }),
    basis: t.field({ type: renewalBasis, required: true, description: 'Where they begin.' }),
  }),
});

const RotateLicenseKeyInput = builder.inputType('RotateLicenseKeyInput', {
  description: 'The license that gets a new key.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the license.' }),
    overlapSeconds: t.int({
      required: true,
      description: 'How long the old key stays good: 0 to 2,592,000 (30 days).',
    }),
    mask: t.string({
      description: "A pattern in which each X becomes a random character; by default the account's mask.",
    }),
    licenseKeyHash: t.string({
      description: 'SHA-256 of the text of a key that you have generated, as 64 hexadecimal digits.',
    }),
    licenseKeyPrefix: t.string({
      description: 'With licenseKeyHash: the first 1 to 64 characters of the key; never the whole key.',
    }),
  }),
});

const RotateLicenseKeyPayload = builder
  .objectRef<{ id: string; licenseKey: string | null }>('RotateLicenseKeyPayload')
  .implement({
    description: 'The new key. Store it now: it is not shown again.',
    fields: (t) => ({
      licenseKey: t.exposeString('licenseKey', {
        nullable: true,
        description: 'The new key in plain text, shown only once; null if you have generated it.',
      }),
      license: t.field({
        type: License,
        // If reading it failed, the key would be lost with it.
        nullable: true,
        description: 'The license. Null comes with an error; the key is valid even then.',
        resolve: ({ id }, _args, context, info) => changedLicense(id, context, info),
      }),
    }),
  });

builder.mutationFields((t) => ({
  updateLicense: t.field({
    type: licensePayload('UpdateLicensePayload'),
    ...withInput(UpdateLicenseInput, 'The license and its changes.'),
    description:
      'Changes a license. If it then ends earlier than before, its leases are revoked; other changes reach programs with their next validation or lease. Errors: LICENSE_NOT_FOUND; INVALID_TRANSITION for the expiry of a license whose term has not started; PRIVATE_MODE for a readable note in private mode.',
    resolve: (_parent, { input: { id, note, noteCiphertextB64, expiresAt, ...terms } }, { service }) =>
      updateLicense({
        ctx: service,
        input: {
          id,
          changes: {
            ...givenTerms(terms),
            note,
            noteCiphertextB64,
            expiresAt: expiresAt instanceof Date ? expiresAt.toISOString() : expiresAt,
          },
        },
      }),
  }),
  unbanLicense: t.field({
    type: licensePayload('UnbanLicensePayload'),
    ...withInput(UnbanLicenseInput, 'The license.'),
    description:
      'Lifts the ban of a license: it is unused or active again, or suspended if it was. Errors: LICENSE_NOT_FOUND, INVALID_TRANSITION.',
    resolve: (_parent, { input: { id, ...unban } }, { service }) =>
      unbanLicense({ ctx: service, input: { id, unban: withoutNulls(unban) } }),
  }),
  suspendLicense: t.field({
    type: licensePayload('SuspendLicensePayload'),
    ...withInput(SuspendLicenseInput, 'The license.'),
    description:
      'Suspends a license until it is reinstated: its verdict is SUSPENDED, and its leases are revoked. Errors: LICENSE_NOT_FOUND, INVALID_TRANSITION.',
    resolve: (_parent, { input: { id, ...suspension } }, { service }) =>
      suspendLicense({ ctx: service, input: { id, suspension: withoutNulls(suspension) } }),
  }),
  reinstateLicense: t.field({
    type: licensePayload('ReinstateLicensePayload'),
    ...withInput(ReinstateLicenseInput, 'The license.'),
    description:
      'Ends the suspension of a license. If it keeps the remaining term, expiresAt moves by exactly as long as it lasted. Errors: LICENSE_NOT_FOUND, INVALID_TRANSITION.',
    resolve: (_parent, { input }, { service }) => reinstateLicense({ ctx: service, input }),
  }),
  renewLicense: t.field({
    type: licensePayload('RenewLicensePayload'),
    ...withInput(RenewLicenseInput, 'The license and its renewal.'),
    description:
      'Gives a license a new expiry, also one that has expired; the term of an unused one gets longer. If it then ends earlier than before, its leases are revoked. Errors: LICENSE_NOT_FOUND, INVALID_TRANSITION.',
    resolve: (_parent, { input }, { service }) => renewLicense({ ctx: service, input }),
  }),
  rotateLicenseKey: t.field({
    ...rateLimited('licenseCreate'),
    type: RotateLicenseKeyPayload,
    ...withInput(RotateLicenseKeyInput, 'The license and the overlap.'),
    description:
      'Gives a license a new key. The old one stays good during the overlap, and never past the expiry; if it ends at once, the leases of the license are revoked. Errors: LICENSE_NOT_FOUND, PRIVATE_MODE, KEY_EXISTS.',
    resolve: async (_parent, { input }, { service }) => {
      const { licenseKey } = await rotateLicenseKey({ ctx: service, input: withoutNulls(input) });
      return { id: input.id, licenseKey };
    },
  }),
}));
