import { licenseNotFound } from '../../services/errors.ts';
import { graceEndsAt } from '../../services/license/decide.ts';
import { readEntitlements, readMetadata } from '../../services/license/entitlements.ts';
import { readLastSeen } from '../../services/license/last-seen.ts';
import { licensesOfApplications, licenseTable } from '../../services/license/lists.ts';
import {
  deviceCountOf,
  type LicenseRow,
  licenseSelect,
  type Moves as MovesOfLicense,
  movesOf,
  shownStatus,
} from '../../services/license/view.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { listField } from '../list.ts';
import { createLoader, oncePerField } from '../loaders.ts';
import { reads } from '../selected-columns.ts';
import { toChanged, toExactlyOne, toOne } from '../to-one.ts';
import { Application, findApplication } from './application.ts';
import { Node } from './node.ts';

const licenseStatus = builder.enumType('LicenseStatus', {
  description: 'The status of a license.',
  values: {
    unused: { description: 'Never used; its term has not started.' },
    active: { description: 'In use.' },
    suspended: { description: 'Suspended by its developer, who can reinstate it.' },
    expired: { description: 'Its term has ended.' },
    banned: { description: 'Banned by its developer.' },
  } as const,
});

export const SelfService = builder.enumType('SelfService', {
  description: 'Who may list, release and move the devices of a license, besides its developer.',
  values: {
    off: { description: 'Only the developer.' },
    key: { description: 'Who has the license key.' },
    account: { description: 'The account of the license, with its password.' },
  } as const,
});

export const Moves = builder.objectRef<MovesOfLicense>('Moves').implement({
  description: 'How often customers may move devices.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'The number of moves within a period.' }),
    periodSeconds: t.exposeInt('periodSeconds', { description: 'The length of the period, which slides.' }),
  }),
});

export const License = builder.prismaObject('License', {
  description: 'A license key of an application. The key is shown only once, when it is created.',
  interfaces: [Node],
  select: licenseSelect,
});

const lastSeenLoader = oncePerField((context) =>
  createLoader<Date>((ids) => readLastSeen(context.service, ids)),
);

builder.objectFields(License, (t) => ({
  keyPrefix: t.exposeString('keyPrefix', { description: 'The first characters of the key.' }),
  status: t.field({
    ...reads('status', 'expiresAt', 'suspendedAt', 'clockStoppedAt'),
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
  graceSeconds: t.exposeInt('graceSeconds', { description: 'How long it is still valid after expiresAt.' }),
  graceEndsAt: t.field({
    ...reads('status', 'expiresAt', 'clockStoppedAt', 'graceSeconds'),
    type: 'DateTime',
    nullable: true,
    description: 'When its grace ends; null unless it is only valid because of it.',
    resolve: (license, _args, { service }) => graceEndsAt(license, new Date(service.env.clock.now())),
  }),
  suspendedAt: t.expose('suspendedAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When it was suspended; null unless it is.',
  }),
  suspensionReason: t.exposeString('suspensionReason', {
    nullable: true,
    description: 'Why it is suspended; null if not given.',
  }),
  clockStopped: t.boolean({
    ...reads('clockStoppedAt'),
    description: 'Whether the suspension keeps the remaining term.',
    resolve: ({ clockStoppedAt }) => clockStoppedAt !== null,
  }),
  hwid: t.exposeString('hwid', {
    nullable: true,
    description: 'The oldest of the devices that it is bound to; null if it is not bound.',
  }),
  deviceLimit: t.exposeInt('deviceLimit', {
    description: 'How many devices may be bound at a time: 1 to 1,000.',
  }),
  deviceCount: t.int({
    ...reads('deviceCount', 'hwid', 'deviceHash'),
    description: 'How many devices are bound.',
    resolve: deviceCountOf,
  }),
  overLimit: t.boolean({
    ...reads('deviceCount', 'deviceLimit', 'hwid', 'deviceHash'),
    description: 'Whether more devices are bound than the limit allows, because it was lowered.',
    resolve: (license) => deviceCountOf(license) > license.deviceLimit,
  }),
  selfService: t.expose('selfService', {
    type: SelfService,
    description: 'Who may list, release and move its devices besides you.',
  }),
  moves: t.field({
    ...reads('moveCount', 'movePeriodSeconds'),
    type: Moves,
    nullable: true,
    description: 'How often a customer may move devices; null for any number of times.',
    resolve: movesOf,
  }),
  cooldownSeconds: t.exposeInt('cooldownSeconds', {
    description: 'How long a customer waits after a move for the next one.',
  }),
  releaseIdleAfterSeconds: t.exposeInt('releaseIdleAfterSeconds', {
    nullable: true,
    description: 'A device that was not used for so long gives its place to a new one; null: it never does.',
  }),
  leaseSeconds: t.exposeInt('leaseSeconds', {
    nullable: true,
    description: "The term of its leases in seconds; null: the application's.",
  }),
  policyId: t.exposeString('policyId', {
    nullable: true,
    description:
      'The policy that it was created by, or that was applied last, which may have been deleted; null without one.',
  }),
  entitlements: t.field({
    ...reads('entitlements'),
    type: 'JSONObject',
    description: 'Code to true or false, a whole number, or a text. Inside the signed answers.',
    // Up to fifty members of two hundred characters.
    complexity: 10,
    resolve: ({ entitlements }) => readEntitlements(entitlements),
  }),
  metadata: t.field({
    ...reads('metadata'),
    type: 'JSONObject',
    description: '`client` is inside the signed answers, `private` is only for you.',
    complexity: 10,
    resolve: ({ metadata }) => readMetadata(metadata),
  }),
  tags: t.exposeStringList('tags', { description: 'Tags for filtering; at most 20.' }),
  lastSeenAt: t.field({
    ...reads(),
    type: 'DateTime',
    nullable: true,
    description:
      'When any of its devices was last accepted, to the minute, also a released one; null if it was not used on a device.',
    resolve: ({ id }, _args, context, info) =>
      lastSeenLoader(context, info)
        .load(id)
        .then((seen) => seen ?? null),
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
const findOneLicense = toExactlyOne<LicenseRow>(licenseTable, licenseNotFound);
/** The license that a mutation changed. */
export const changedLicense = toChanged<LicenseRow>(licenseTable, licenseNotFound);

builder.queryField('license', (t) =>
  t.field({
    type: License,
    nullable: true,
    description: 'One of your licenses. Null comes with a LICENSE_NOT_FOUND error.',
    args: { id: t.arg.id({ required: true, description: 'The id of the license.' }) },
    resolve: (_parent, { id }, context, info) => findOneLicense(id, context, info),
  }),
);

export const LicenseConnection = connectionType('LicenseConnection', License, 'licenses');

const MetadataCondition = builder.inputType('MetadataCondition', {
  description: 'A value of metadata, public or private.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name.' }),
    value: t.string({
      required: true,
      description: 'The value. A text such as "5" or "true" also matches the number or the boolean.',
    }),
  }),
});

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

/** The conditions of a list of licenses. */
export const licenseConditions = (t: InputFields) => ({
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
  tag: t.string({ description: 'Licenses with this tag.' }),
  metadata: t.field({
    type: [MetadataCondition],
    description: 'Licenses with all of these values in their metadata; at most 10.',
  }),
  policyId: t.id({
    description: 'Licenses that were created by this policy, or to which it was applied last.',
  }),
});

const LicenseFilterInput = builder.inputType('LicenseFilter', {
  description: 'Filters licenses. All given conditions must hold.',
  fields: licenseConditions,
});

builder.objectField(Application, 'licenses', (t) =>
  t.field({
    type: LicenseConnection,
    description: 'The licenses, newest first.',
    args: {
      ...t.arg.connectionArgs(),
      q: t.arg.string({
        description:
          'Case-insensitive substring of key prefix, note, HWID or IP address; or a whole key, or the whole HWID of any device.',
      }),
      filter: t.arg({ type: LicenseFilterInput, description: 'Filters the list.' }),
    },
    ...listField<LicenseRow>(licensesOfApplications),
  }),
);
