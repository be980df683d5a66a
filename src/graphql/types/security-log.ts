import type { SecurityEvent } from '../../services/security-log/events.ts';
import { securityLogSelect } from '../../services/security-log/list.ts';
import {
  logOfApplications,
  logOfDevelopers,
  logOfLicenses,
  securityLogFilter,
} from '../../services/security-log/lists.ts';
import { builder } from '../builder.ts';
import { connectionComplexity, connectionType } from '../connection.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { Account } from './account.ts';
import { Application, findApplication } from './application.ts';
import { EndUser, findEndUser } from './end-user.ts';
import { findLicense, License } from './license.ts';

export const securityEvent = builder.enumType('SecurityEvent', {
  description: 'What happened. Kinds are added now and then; one that is there keeps its name.',
  values: {
    developer_registered: { description: 'An account was made.' },
    developer_logged_in: { description: 'Someone logged in to the dashboard.' },
    developer_login_failed: { description: 'Someone gave a wrong password for the account.' },
    application_created: { description: 'An application was made.' },
    application_settings_changed: { description: 'Settings were changed; the metadata names them.' },
    application_deleted: { description: 'An application was deleted, and its own entries with it.' },
    licenses_created: { description: 'Licenses were minted; the metadata counts them.' },
    licenses_extended: {
      description: 'Active licenses got more time; the metadata says how much and how many.',
    },
    license_banned: {
      description: 'A license was banned; the metadata has the scope, the device and the address.',
    },
    license_tier_changed: { description: 'A license got another tier; the metadata has both.' },
    license_deleted: { description: 'A license was deleted.' },
    hwid_reset: { description: 'A license or an end user was freed of a device; the metadata has it.' },
    ban_removed: { description: 'The ban of a device or an address was lifted.' },
    user_created: { description: "A developer made an end user's account." },
    user_deleted: { description: "A developer removed an end user's account." },
    session_refused: { description: 'A client asked for a session and was refused; the code says why.' },
    license_validated: { description: 'A client asked whether a license is valid; the code is the verdict.' },
    user_registered: {
      description: 'A client registered an end user, or tried to; the code is the verdict.',
    },
    user_logged_in: { description: 'An end user logged in, or tried to; the code is the verdict.' },
    user_upgraded: {
      description: 'An end user took a better license, or tried to; the code is the verdict.',
    },
    api_key_created: { description: 'An API key was made.' },
    api_key_revoked: { description: 'An API key was revoked.' },
    account_changed: { description: 'Something of the account was changed; the metadata names it.' },
    account_exported: { description: 'The account was exported.' },
  } as const satisfies Record<SecurityEvent, object>,
});

export const SecurityLogEntry = builder.prismaObject('SecurityLogEntry', {
  description: 'Something that happened. It never holds a license key, a password or a token.',
  select: securityLogSelect,
  fields: (t) => ({
    id: t.id({
      description: 'UUID, the same as in REST; entries are in the order of their ids.',
      resolve: ({ id }) => id,
    }),
    event: t.field({
      type: securityEvent,
      description: 'What happened.',
      resolve: ({ event }) => event as SecurityEvent,
    }),
    code: t.string({
      nullable: true,
      description: "The verdict on a client's request; null for what a developer did.",
      resolve: ({ code }) => code,
    }),
    applicationId: t.id({
      nullable: true,
      description: 'The application it is about; null when it is about the account.',
      resolve: ({ applicationId }) => applicationId,
    }),
    licenseId: t.id({
      nullable: true,
      description: 'The license it is about, also when that is gone; null when it is about none.',
      resolve: ({ licenseId }) => licenseId,
    }),
    userId: t.id({
      nullable: true,
      description: 'The end user it is about, also when the account is gone; null when it is about none.',
      resolve: ({ userId }) => userId,
    }),
    ip: t.string({
      nullable: true,
      description: 'The address it came from; null when it is not known.',
      resolve: ({ ip }) => ip,
    }),
    country: t.string({
      nullable: true,
      description: 'ISO 3166-1 alpha-2; null when it is not known.',
      resolve: ({ country }) => country,
    }),
    hwid: t.string({
      nullable: true,
      description: 'The device it is about; null when it is about none.',
      resolve: ({ hwid }) => hwid,
    }),
    metadata: t.field({
      type: 'JSONObject',
      description: 'What else there is to say, by the kind of event.',
      resolve: ({ metadata }) => (typeof metadata === 'object' && metadata !== null ? metadata : {}),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it happened.',
      resolve: ({ createdAt }) => createdAt,
    }),
    application: t.field({
      ...reads('applicationId'),
      type: Application,
      nullable: true,
      description: 'The application it is about; null when it is about the account.',
      resolve: ({ applicationId }, _args, context, info) =>
        applicationId === null ? null : findApplication(applicationId, context, info),
    }),
    license: t.field({
      ...reads('licenseId'),
      type: License,
      nullable: true,
      description: 'The license it is about; null when it is about none, or that is gone.',
      resolve: ({ licenseId }, _args, context, info) => findLicense(licenseId, context, info),
    }),
    user: t.field({
      ...reads('userId'),
      type: EndUser,
      nullable: true,
      description: 'The end user it is about; null when it is about none, or the account is gone.',
      resolve: ({ userId }, _args, context, info) => findEndUser(userId, context, info),
    }),
  }),
});

type EntryShape = typeof SecurityLogEntry.$inferType;

export const SecurityLogConnection = connectionType(
  'SecurityLogConnection',
  SecurityLogEntry,
  'entries of the security log',
);

const SecurityLogFilterInput = builder.inputType('SecurityLogFilter', {
  description: 'Which entries; each condition that is given has to hold.',
  fields: (t) => ({
    events: t.field({ type: [securityEvent], description: 'Those of one of these kinds.' }),
    codes: t.stringList({ description: 'Those with one of these verdicts; at most 50.' }),
    licenseId: t.id({ description: 'Those about this license.' }),
    userId: t.id({ description: 'Those about this end user.' }),
    createdFrom: t.field({ type: 'DateTime', description: 'Those of this instant or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Those from before this instant.' }),
  }),
});

const entryConditions = builder.args((t) => ({
  q: t.string({ description: 'Substring of event, code, address, country or HWID, in any case.' }),
  filter: t.field({ type: SecurityLogFilterInput, description: 'Further conditions.' }),
}));

builder.prismaObjectField('Application', 'securityLog', (t) =>
  t.field({
    type: SecurityLogConnection,
    description:
      'What happened to it, newest first. Verdicts of the last quarter second may not be there yet; entries are purged after about 90 days.',
    args: { ...t.arg.connectionArgs(), ...entryConditions },
    complexity: connectionComplexity,
    ...listField<EntryShape, typeof securityLogFilter>(logOfApplications, securityLogFilter),
  }),
);

builder.prismaObjectField('License', 'securityLog', (t) =>
  t.field({
    type: SecurityLogConnection,
    description: 'What happened to it, newest first.',
    args: { ...t.arg.connectionArgs(), ...entryConditions },
    complexity: connectionComplexity,
    ...listField<EntryShape, typeof securityLogFilter>(logOfLicenses, securityLogFilter),
  }),
);

builder.prismaObjectField(Account, 'securityLog', (t) =>
  t.field({
    type: SecurityLogConnection,
    description:
      'What happened to the account and to all of its applications, newest first; what was about a deleted application is gone.',
    args: { ...t.arg.connectionArgs(), ...entryConditions },
    complexity: connectionComplexity,
    ...listField<EntryShape, typeof securityLogFilter>(logOfDevelopers, securityLogFilter),
  }),
);
