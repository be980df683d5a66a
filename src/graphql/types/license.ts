import { licenseNotFound } from '../../services/errors.ts';
import { licensesOfApplications, licenseTable } from '../../services/license/lists.ts';
import { type LicenseRow, licenseSelect, shownStatus } from '../../services/license/view.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { toExactlyOne, toOne } from '../to-one.ts';
import { Application, findApplication } from './application.ts';
import { Node } from './node.ts';

const licenseStatus = builder.enumType('LicenseStatus', {
  description: 'The status of a license.',
  values: {
    unused: { description: 'Never used; its term has not started.' },
    active: { description: 'In use.' },
    expired: { description: 'Its term has ended.' },
    banned: { description: 'Banned by its developer.' },
  } as const,
});

export const License = builder.prismaObject('License', {
  description: 'A license key of an application. The key is shown only once, when it is created.',
  interfaces: [Node],
  select: licenseSelect,
});

builder.objectFields(License, (t) => ({
  keyPrefix: t.exposeString('keyPrefix', { description: 'The first characters of the key.' }),
  status: t.field({
    ...reads('status', 'expiresAt'),
    type: licenseStatus,
    description: 'The current status.',
    resolve: (license, _args, { service }) => shownStatus(license, new Date(service.env.clock.now())),
  }),
  subscriptionTier: t.exposeInt('subscriptionTier', {
    description: 'From 0; your program decides what it means.',
  }),
  durationSeconds: t.exposeInt('durationSeconds', {
    description: 'The term in seconds, counted from first use; 0 means unlimited.',
  }),
  activatedAt: t.expose('activatedAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When it was first used; null before that.',
  }),
  expiresAt: t.expose('expiresAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When its term ends; null if the term has not started or is unlimited.',
  }),
  hwid: t.exposeString('hwid', {
    nullable: true,
    description: 'The device that it is bound to; null if it is not bound.',
  }),
  lastIp: t.exposeString('lastIp', {
    nullable: true,
    description: 'The IP address that it was last used from; null before first use.',
  }),
  note: t.exposeString('note', {
    nullable: true,
    description: 'Your note; null if not set.',
    // Up to a thousand characters: two hundred notes requested under forty aliases are 50 MB of JSON.
    complexity: 8,
  }),
  noteCiphertextB64: t.exposeString('noteCiphertextB64', {
    nullable: true,
    description: 'In private mode: the note, encrypted in the browser; null if not set.',
    // By far the largest column.
    complexity: 10,
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  application: t.field({
    ...reads('applicationId'),
    type: Application,
    description: 'The application that the license is for.',
    resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
  }),
}));

/** A license that another row refers to; null if it was deleted. */
export const findLicense = toOne<LicenseRow>(licenseTable);
/** The license that a mutation changed. */
export const changedLicense = toExactlyOne<LicenseRow>(licenseTable, licenseNotFound);

builder.queryField('license', (t) =>
  t.field({
    type: License,
    nullable: true,
    description: 'One of your licenses. Null comes with a LICENSE_NOT_FOUND error.',
    args: { id: t.arg.id({ required: true, description: 'The id of the license.' }) },
    resolve: (_parent, { id }, context, info) => changedLicense(id, context, info),
  }),
);

export const LicenseConnection = connectionType('LicenseConnection', License, 'licenses');

const LicenseFilterInput = builder.inputType('LicenseFilter', {
  description: 'Filters licenses. All given conditions must hold.',
  fields: (t) => ({
    statuses: t.field({
      type: [licenseStatus],
      description: 'Licenses that currently have one of these statuses.',
    }),
    subscriptionTiers: t.intList({ description: 'Licenses of one of these tiers; at most 100 tiers.' }),
    expiresFrom: t.field({
      type: 'DateTime',
      description:
        'Licenses whose term ends at this instant or later; not those whose term is unlimited or has not started.',
    }),
    expiresBefore: t.field({
      type: 'DateTime',
      description: 'Licenses whose term ends or has ended before this instant.',
    }),
    hasHwid: t.boolean({ description: 'True: licenses that are bound to a device. False: the others.' }),
  }),
});

builder.objectField(Application, 'licenses', (t) =>
  t.field({
    type: LicenseConnection,
    description: 'The licenses, newest first.',
    args: {
      ...t.arg.connectionArgs(),
      q: t.arg.string({
        description: 'Case-insensitive substring of key prefix, note, HWID or IP address; or a whole key.',
      }),
      filter: t.arg({ type: LicenseFilterInput, description: 'Filters the list.' }),
    },
    ...listField<LicenseRow>(licensesOfApplications),
  }),
);
