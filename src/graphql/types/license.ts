import { licenseNotFound } from '../../services/errors.ts';
import { licenseFilter, licensesOfApplications, licenseTable } from '../../services/license/lists.ts';
import { licenseSelect, shownStatus } from '../../services/license/view.ts';
import { builder } from '../builder.ts';
import { connectionComplexity, connectionType } from '../connection.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { toExactlyOne, toOne } from '../to-one.ts';
import { Application, findApplication } from './application.ts';

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
  select: licenseSelect,
  fields: (t) => ({
    id: t.id({ description: 'UUID, the same as in REST.', resolve: ({ id }) => id }),
    keyPrefix: t.string({
      description: 'The start of the key, to tell keys apart.',
      resolve: ({ keyPrefix }) => keyPrefix,
    }),
    status: t.field({
      ...reads('status', 'expiresAt'),
      type: licenseStatus,
      description: 'Where it stands at this moment.',
      resolve: (license, _args, { service }) => shownStatus(license, new Date(service.env.clock.now())),
    }),
    subscriptionTier: t.int({
      description: 'From 0; your program decides what it means.',
      resolve: ({ subscriptionTier }) => subscriptionTier,
    }),
    durationSeconds: t.int({
      description: 'From first use; 0 never ends.',
      resolve: ({ durationSeconds }) => durationSeconds,
    }),
    activatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'First use; null before it.',
      resolve: ({ activatedAt }) => activatedAt,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Null when it has not begun, or never ends.',
      resolve: ({ expiresAt }) => expiresAt,
    }),
    hwid: t.string({
      nullable: true,
      description: 'The device it is bound to; null when to none.',
      resolve: ({ hwid }) => hwid,
    }),
    lastIp: t.string({
      nullable: true,
      description: 'The address it was last used from; null when it was not used yet.',
      resolve: ({ lastIp }) => lastIp,
    }),
    note: t.string({
      nullable: true,
      description: 'Your note; null when there is none.',
      // Up to a thousand characters: two hundred notes requested under forty aliases are 50 MB of JSON.
      complexity: 8,
      resolve: ({ note }) => note,
    }),
    noteCiphertextB64: t.string({
      nullable: true,
      description: 'In private mode: the note, encrypted in the browser; null when there is none.',
      // By far the largest column.
      complexity: 10,
      resolve: ({ noteCiphertextB64 }) => noteCiphertextB64,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was minted.',
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
      description: 'The application it is for.',
      resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
    }),
  }),
});

type LicenseShape = typeof License.$inferType;

/** A license that something is about; null when it is gone. */
export const findLicense = toOne<LicenseShape>(licenseTable);
/** The license that a mutation was about. */
export const changedLicense = toExactlyOne<LicenseShape>(licenseTable, licenseNotFound);

builder.queryField('license', (t) =>
  t.field({
    type: License,
    nullable: true,
    description: 'One of your licenses. Null comes with a LICENSE_NOT_FOUND error.',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_parent, { id }, context, info) => changedLicense(id, context, info),
  }),
);

export const LicenseConnection = connectionType('LicenseConnection', License, 'licenses');

const LicenseFilterInput = builder.inputType('LicenseFilter', {
  description: 'Which licenses; each condition that is given has to hold.',
  fields: (t) => ({
    statuses: t.field({ type: [licenseStatus], description: 'Those that stand at one of these now.' }),
    subscriptionTiers: t.intList({ description: 'Those of one of these tiers; at most 100.' }),
    expiresFrom: t.field({
      type: 'DateTime',
      description:
        'Those whose term ends at this instant or later; what never ends, or has not begun, is left out.',
    }),
    expiresBefore: t.field({
      type: 'DateTime',
      description: 'Those whose term ends, or has ended, before this instant.',
    }),
    hasHwid: t.boolean({ description: 'Those that are bound to a device; false: those that are not.' }),
  }),
});

builder.prismaObjectField('Application', 'licenses', (t) =>
  t.field({
    type: LicenseConnection,
    description: 'Its licenses, newest first.',
    args: {
      ...t.arg.connectionArgs(),
      q: t.arg.string({
        description: 'Substring of key prefix, note, HWID or address, in any case; or a whole key.',
      }),
      filter: t.arg({ type: LicenseFilterInput, description: 'Further conditions.' }),
    },
    complexity: connectionComplexity,
    ...listField<LicenseShape, typeof licenseFilter>(licensesOfApplications, licenseFilter),
  }),
);
