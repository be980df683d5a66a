import { type ActorKind, actorOfEntry, type LoggedActor } from '../../services/security-log/actor.ts';
import type { SecurityEvent } from '../../services/security-log/events.ts';
import { logOfApplications, logOfDevelopers, logOfLicenses } from '../../services/security-log/lists.ts';
import { type SecurityLogEntryRow, securityLogSelect } from '../../services/security-log/view.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { Account } from './account.ts';
import { Application, findApplication } from './application.ts';
import { EndUser, findEndUser } from './end-user.ts';
import { findLicense, License } from './license.ts';
import { Node } from './node.ts';

export const securityEvent = builder.enumType('SecurityEvent', {
  description: 'The kind of an event. New kinds may be added; existing ones keep their names.',
  values: {
    developer_registered: { description: 'An account was created.' },
    developer_logged_in: { description: 'Someone logged in to the dashboard.' },
    developer_login_failed: { description: 'Someone entered a wrong password for the account.' },
    application_created: { description: 'An application was created.' },
    application_settings_changed: { description: 'Settings were changed; the metadata lists them.' },
    application_deleted: { description: 'An application was deleted, with its own log entries.' },
    licenses_created: { description: 'Licenses were created; the metadata has their number.' },
    licenses_extended: {
      description: 'Active licenses were extended; the metadata has the extension and their number.',
    },
    license_banned: {
      description: 'A license was banned; the metadata has the scope, the device and the IP address.',
    },
    license_unbanned: {
      description: 'The ban of a license was lifted; the metadata has the number of bans lifted with it.',
    },
    license_suspended: {
      description: 'A license was suspended; the metadata has the reason, and whether it keeps its term.',
    },
    license_reinstated: {
      description: 'The suspension of a license ended; the metadata has the seconds that its term moved.',
    },
    license_extended: {
      description: 'An active license was extended; the metadata has the seconds and the new expiry.',
    },
    license_renewed: {
      description: 'A license was renewed; the metadata has the seconds, their basis and the new expiry.',
    },
    license_changed: { description: 'A license was changed; the metadata has the names of its fields.' },
    license_key_rotated: {
      description: 'A license got a new key; the metadata has how long the old one stays good.',
    },
    license_tier_changed: { description: 'The tier of a license was changed; the metadata has both tiers.' },
    license_deleted: { description: 'A license was deleted.' },
    policy_created: { description: 'A policy was created; the metadata has its id and code.' },
    policy_changed: { description: 'A policy was changed; the metadata lists the changed members.' },
    policy_deleted: { description: 'A policy was deleted. Its licenses stayed as they were.' },
    policy_applied: {
      description:
        'A policy was applied to a license; the metadata has the policy and the names of the changed values.',
    },
    lease_issued: {
      description:
        'A device got a lease; the metadata has its end. Renewals are logged once per half of their term.',
    },
    lease_rolled_back: {
      description:
        'A device asked with an older lease than the last that was issued to it: its disk was set back, or it did not receive the last one.',
    },
    hwid_reset: {
      description: 'A license or an end user was unbound from a device; the metadata has the device.',
    },
    device_renamed: { description: 'A device was renamed; the metadata has its id and both names.' },
    device_released: { description: 'A device lost its place; the metadata says which and who released it.' },
    device_moved: {
      description:
        'A customer bound a device to their license; the metadata has its id, and that of the device whose place it got.',
    },
    self_service_refused: {
      description:
        "A customer's request about the devices of a license was refused; the code says why, the metadata has the call.",
    },
    ban_removed: { description: 'The ban of a device or an IP address was lifted.' },
    user_created: { description: "A developer created an end user's account." },
    user_deleted: { description: "A developer deleted an end user's account." },
    session_refused: { description: 'A client session was refused; the code says why.' },
    license_validated: { description: 'A client validated a license; the code is the verdict.' },
    user_registered: {
      description: 'A client tried to register an end user; the code is the verdict.',
    },
    user_logged_in: { description: 'An end user tried to log in; the code is the verdict.' },
    user_upgraded: {
      description: 'An end user tried to upgrade to a license of a higher tier; the code is the verdict.',
    },
    totp_failed: { description: 'Someone entered the right password and a wrong TOTP or recovery code.' },
    totp_enabled: { description: 'TOTP was turned on.' },
    totp_disabled: { description: 'TOTP was turned off; the metadata says whether an operator did it.' },
    recovery_code_used: {
      description: 'A recovery code was used; the metadata has the number of codes that are left.',
    },
    recovery_codes_renewed: { description: 'The recovery codes were replaced.' },
    sessions_revoked: {
      description: 'Sessions of the dashboard were ended from another one; the metadata has their number.',
    },
    api_key_created: { description: 'An API key was created.' },
    api_key_changed: { description: 'An API key was changed; the metadata lists the changed fields.' },
    api_key_rotated: {
      description: 'An API key got a new token; the metadata has how long the old one stays good.',
    },
    api_key_revoked: { description: 'An API key was revoked.' },
    account_changed: { description: 'The account was changed; the metadata says what.' },
    account_exported: { description: 'The account was exported.' },
    webhook_created: { description: 'A webhook was created.' },
    webhook_changed: { description: 'A webhook was changed; the metadata names the members.' },
    webhook_deleted: { description: 'A webhook was deleted.' },
    webhook_secret_rotated: { description: 'The signing secret of a webhook was replaced.' },
    webhook_disabled: { description: 'The service disabled a webhook; the metadata has the reason.' },
  } as const satisfies Record<SecurityEvent, object>,
});

const actorKind = builder.enumType('ActorKind', {
  description: 'Who can cause an event. New kinds may be added.',
  values: {
    session: { description: 'A developer in the dashboard.' },
    api_key: { description: 'A program with an API key.' },
    client: { description: 'Client software.' },
    operator: { description: 'The operator of the service, by a command.' },
    system: { description: 'The service itself.' },
  } as const satisfies Record<ActorKind, object>,
});

const LogActor = builder.objectRef<LoggedActor>('LogActor').implement({
  description: 'Who caused an event.',
  fields: (t) => ({
    kind: t.expose('kind', { type: actorKind, description: 'What it is.' }),
    id: t.exposeID('id', {
      nullable: true,
      description: 'The id of the session or the API key, even if it has ended; null for other kinds.',
    }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'The name that the developer or the API key had at that time; null without a name.',
    }),
  }),
});

export const SecurityLogEntry = builder.prismaObject('SecurityLogEntry', {
  description: 'An event in the security log. It never contains a license key, a password or a token.',
  interfaces: [Node],
  select: securityLogSelect,
});

builder.objectFields(SecurityLogEntry, (t) => ({
  id: t.exposeID('id', { description: 'UUID, the same as in REST. The log is ordered by it.' }),
  event: t.field({
    type: securityEvent,
    description: 'What happened.',
    resolve: ({ event }) => event as SecurityEvent,
  }),
  code: t.exposeString('code', {
    nullable: true,
    description: "The verdict on a client's request; null for actions of a developer.",
  }),
  applicationId: t.exposeID('applicationId', {
    nullable: true,
    description: 'The application that the entry is about; null if it is about the account.',
  }),
  licenseId: t.exposeID('licenseId', {
    nullable: true,
    description: 'The license that the entry is about, even if it was deleted; null if it is about none.',
  }),
  userId: t.exposeID('userId', {
    nullable: true,
    description: 'The end user that the entry is about, even if deleted; null if it is about none.',
  }),
  ip: t.exposeString('ip', {
    nullable: true,
    description: 'The IP address that the request came from; null if unknown.',
  }),
  country: t.exposeString('country', {
    nullable: true,
    description: 'The country of the IP address (ISO 3166-1 alpha-2); null if unknown.',
  }),
  hwid: t.exposeString('hwid', {
    nullable: true,
    description: 'The device that the entry is about; null if it is about none.',
  }),
  metadata: t.field({
    type: 'JSONObject',
    description: 'More about the event, depending on its kind.',
    resolve: ({ metadata }) => (typeof metadata === 'object' && metadata !== null ? metadata : {}),
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
  actor: t.field({
    ...reads('actorKind', 'actorId', 'actorName'),
    type: LogActor,
    nullable: true,
    description: 'Who caused it; null in entries from before this was recorded.',
    resolve: actorOfEntry,
  }),
  application: t.field({
    ...reads('applicationId'),
    type: Application,
    nullable: true,
    description: 'The application that the entry is about; null if it is about the account.',
    resolve: ({ applicationId }, _args, context, info) =>
      applicationId === null ? null : findApplication(applicationId, context, info),
  }),
  license: t.field({
    ...reads('licenseId'),
    type: License,
    nullable: true,
    description: 'The license that the entry is about; null if it is about none or the license was deleted.',
    resolve: ({ licenseId }, _args, context, info) => findLicense(licenseId, context, info),
  }),
  user: t.field({
    ...reads('userId'),
    type: EndUser,
    nullable: true,
    description:
      'The end user that the entry is about; null if it is about none or the end user was deleted.',
    resolve: ({ userId }, _args, context, info) => findEndUser(userId, context, info),
  }),
}));

export const SecurityLogConnection = connectionType(
  'SecurityLogConnection',
  SecurityLogEntry,
  'security log entries',
);

const SecurityLogFilterInput = builder.inputType('SecurityLogFilter', {
  description: 'Filters log entries. All given conditions must hold.',
  fields: (t) => ({
    events: t.field({ type: [securityEvent], description: 'Entries of these kinds.' }),
    codes: t.stringList({ description: 'Entries with one of these verdicts; at most 50 verdicts.' }),
    licenseId: t.id({ description: 'Entries about this license.' }),
    userId: t.id({ description: 'Entries about this end user.' }),
    createdFrom: t.field({ type: 'DateTime', description: 'Entries made at this instant or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Entries made before this instant.' }),
  }),
});

const entryConditions = builder.args((t) => ({
  q: t.string({ description: 'Case-insensitive substring of event, code, IP address, country or HWID.' }),
  filter: t.field({ type: SecurityLogFilterInput, description: 'Filters the list.' }),
}));

builder.objectField(Application, 'securityLog', (t) =>
  t.field({
    type: SecurityLogConnection,
    description:
      'The log of the application, newest first. Verdicts of the last quarter of a second may be missing; entries are deleted after about 90 days.',
    args: { ...t.arg.connectionArgs(), ...entryConditions },
    ...listField<SecurityLogEntryRow>(logOfApplications),
  }),
);

builder.objectField(License, 'securityLog', (t) =>
  t.field({
    type: SecurityLogConnection,
    description: 'The log entries about the license, newest first.',
    args: { ...t.arg.connectionArgs(), ...entryConditions },
    ...listField<SecurityLogEntryRow>(logOfLicenses),
  }),
);

builder.objectField(Account, 'securityLog', (t) =>
  t.field({
    type: SecurityLogConnection,
    description:
      'The log of the account and all of its applications, newest first. Entries about deleted applications are gone.',
    args: { ...t.arg.connectionArgs(), ...entryConditions },
    ...listField<SecurityLogEntryRow>(logOfDevelopers),
  }),
);
