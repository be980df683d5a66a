import { z } from 'zod';
import { createApplication } from '../../services/application/create.ts';
import { deleteApplication } from '../../services/application/delete.ts';
import { applicationsOfDevelopers, applicationTable } from '../../services/application/lists.ts';
import {
  type MessageKey,
  resolveMessages,
  responseMessageKey,
  responseMessageText,
} from '../../services/application/messages.ts';
import { type SdkHint, sdkHint } from '../../services/application/sdk-hint.ts';
import {
  updateApplicationSettings,
  updateApplicationSettingsInput,
} from '../../services/application/update-settings.ts';
import { type ApplicationRow, applicationSelect } from '../../services/application/view.ts';
import { applicationNotFound } from '../../services/errors.ts';
import { parseInput } from '../../services/parse-input.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { withInput, withoutNulls } from '../input.ts';
import { listField } from '../list.ts';
import { rateLimited } from '../rate-limit.ts';
import { reads } from '../selected-columns.ts';
import { toChanged, toExactlyOne } from '../to-one.ts';
import { Developer } from './developer.ts';
import { Node } from './node.ts';

const applicationStatus = builder.enumType('ApplicationStatus', {
  values: {
    active: { description: 'Client requests are served.' },
    disabled: { description: 'Client requests are refused with APP_DISABLED.' },
  } as const,
  description: 'Whether client requests are served.',
});

const applicationProtocol = builder.enumType('ApplicationProtocol', {
  values: {
    any: { description: 'Versions 1 and 2.' },
    v2_only: { description: 'Version 2. Clients of version 1 are refused with APP_OUTDATED.' },
  } as const,
  description: 'Which versions of the sealed protocol an application accepts.',
});

const messageKeys = {
  OK: { description: 'The license is valid.' },
  APP_DISABLED: { description: 'The application is disabled.' },
  APP_OUTDATED: { description: 'The client has another version than the application.' },
  IP_BANNED: { description: "The client's IP address is banned." },
  HWID_BANNED: { description: "The client's device is banned." },
  LICENSE_NOT_FOUND: { description: 'The license key does not exist.' },
  BANNED: { description: 'The license is banned.' },
  SUSPENDED: { description: 'The license is suspended.' },
  EXPIRED: { description: 'The term of the license has ended.' },
  DEVICE_RELEASED: { description: 'The device was released from the license.' },
  HWID_MISMATCH: { description: 'The license is for one device and bound to another.' },
  DEVICE_LIMIT: { description: 'The license is bound to as many other devices as it allows.' },
  SELF_SERVICE_OFF: { description: 'Customers cannot change the devices of the license.' },
  DEVICE_UNKNOWN: { description: 'The license is not bound to the device to release.' },
  MOVE_COOLDOWN: { description: 'The time since the last move is too short.' },
  MOVES_EXHAUSTED: { description: 'No moves are left in this period.' },
  REGISTER_DISABLED: { description: 'End users cannot register themselves.' },
  LICENSE_REQUIRED: { description: 'A license key is required to register.' },
  INVALID_CREDENTIALS: { description: 'Wrong username or password.' },
  USERNAME_TAKEN: { description: 'The username is in use.' },
  USER_NOT_FOUND: { description: 'The end user does not exist.' },
  TIER_NOT_HIGHER: { description: 'An upgrade requires a license of a higher tier.' },
} as const satisfies Record<MessageKey, object>;

const messageKey = builder.enumType('MessageKey', {
  description: 'Identifies a text that clients are shown.',
  values: messageKeys,
});

const ResponseMessage = builder.objectRef<{ key: MessageKey; text: string }>('ResponseMessage').implement({
  description: 'A text that clients are shown.',
  fields: (t) => ({
    key: t.expose('key', { type: messageKey, description: 'When it is shown.' }),
    text: t.exposeString('text', {
      description: 'The text.',
      // Up to 1.5 kB, as long as several fields.
      complexity: { field: 2, multiplier: 1 },
    }),
  }),
});

const SdkHintType = builder.objectRef<SdkHint>('SdkHint').implement({
  description: 'The values to build into the program.',
  fields: (t) => ({
    baseUrl: t.exposeString('baseUrl', { description: 'The URL of the service.' }),
    appId: t.exposeID('appId', { description: 'The id of the application.' }),
    version: t.exposeString('version', { description: 'The version to send.' }),
    publicKeyB64: t.exposeString('publicKeyB64', {
      description: 'Base64 of the public key that verifies signed answers.',
    }),
    protocol: t.exposeInt('protocol', { description: 'The version of the client protocol: 2.' }),
    snippet: t.exposeString('snippet', {
      description: 'TypeScript code that validates a license with the SDK.',
    }),
  }),
});

const base64Of = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

export const Application = builder.prismaObject('Application', {
  description: 'A program that a developer sells.',
  interfaces: [Node],
  select: applicationSelect,
});

builder.objectFields(Application, (t) => ({
  id: t.exposeID('id', { description: 'UUID, the same as in REST; clients embed it as appId.' }),
  name: t.exposeString('name', { description: 'The name.' }),
  version: t.exposeString('version', { description: 'The version that clients must send, exactly.' }),
  status: t.expose('status', {
    type: applicationStatus,
    description: 'Whether client requests are served.',
  }),
  hwidLockEnabled: t.exposeBoolean('hwidLockEnabled', {
    description: 'Whether a license is bound to the first device that sends a HWID.',
  }),
  requireLicenseToRegister: t.exposeBoolean('requireLicenseToRegister', {
    description: 'Whether end users need a license key to register.',
  }),
  registrationEnabled: t.exposeBoolean('registrationEnabled', {
    description: 'Whether end users can register themselves.',
  }),
  protocol: t.expose('protocol', {
    type: applicationProtocol,
    description: 'Which versions of the sealed protocol the application accepts.',
  }),
  leasesEnabled: t.exposeBoolean('leasesEnabled', {
    description:
      'Whether clients get offline leases: signed texts that let a program continue without the network.',
  }),
  leaseDays: t.exposeInt('leaseDays', { description: 'The term of a lease in days.' }),
  responseMessages: t.field({
    type: [ResponseMessage],
    description: 'All texts that clients are shown: yours, and the defaults for the others.',
    complexity: { field: 1, multiplier: Object.keys(messageKeys).length },
    resolve: ({ responseMessages }) =>
      Object.entries(resolveMessages(responseMessages)).map(([key, text]) => ({
        key: key as MessageKey,
        text,
      })),
  }),
  publicKeyB64: t.string({
    ...reads('publicKey'),
    description: 'Base64 of the 32 raw bytes of the Ed25519 public key; clients embed it.',
    resolve: ({ publicKey }) => base64Of(publicKey),
  }),
  sdkHint: t.field({
    ...reads('version', 'publicKey'),
    type: SdkHintType,
    description: 'The current values to build into the program, and code to paste.',
    resolve: ({ id, version, publicKey }, _args, { service }) =>
      sdkHint(service, { id, version, publicKeyB64: base64Of(publicKey) }),
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
}));

/** The application that a row belongs to. */
export const findApplication = toExactlyOne<ApplicationRow>(applicationTable, applicationNotFound);
/** The application that a mutation changed. */
const changedApplication = toChanged<ApplicationRow>(applicationTable, applicationNotFound);

export const ApplicationConnection = connectionType('ApplicationConnection', Application, 'applications');

builder.objectField(Developer, 'applications', (t) =>
  t.field({
    type: ApplicationConnection,
    description: 'The applications, newest first.',
    args: t.arg.connectionArgs(),
    ...listField<ApplicationRow>(applicationsOfDevelopers),
  }),
);

builder.queryField('application', (t) =>
  t.field({
    type: Application,
    nullable: true,
    description: 'One of your applications. Null comes with an APP_NOT_FOUND error.',
    args: { id: t.arg.id({ required: true, description: 'The id of the application.' }) },
    resolve: (_parent, { id }, context, info) => findApplication(id, context, info),
  }),
);

const CreateApplicationInput = builder.inputType('CreateApplicationInput', {
  description: 'A new application.',
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 100 characters.' }),
    version: t.string({ description: 'The version that clients must send; 1.0.0 by default.' }),
  }),
});

const CreateApplicationPayload = builder
  .objectRef<{ application: { id: string }; sdkHint: SdkHint }>('CreateApplicationPayload')
  .implement({
    description: 'The new application.',
    fields: (t) => ({
      application: t.field({
        type: Application,
        description: 'The application.',
        resolve: ({ application }, _args, context, info) => changedApplication(application.id, context, info),
      }),
      sdkHint: t.expose('sdkHint', {
        type: SdkHintType,
        description: 'The values to build into the program.',
      }),
    }),
  });

const ResponseMessageInput = builder.inputType('ResponseMessageInput', {
  description: 'A text that replaces the default.',
  fields: (t) => ({
    key: t.field({ type: messageKey, required: true, description: 'When it is shown.' }),
    text: t.string({ required: true, description: '1 to 500 characters.' }),
  }),
});

const UpdateApplicationSettingsInput = builder.inputType('UpdateApplicationSettingsInput', {
  description: 'The settings to change. Omitted settings stay as they are; at least one is required.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the application.' }),
    version: t.string({ description: 'The version that clients must send.' }),
    status: t.field({ type: applicationStatus, description: 'Whether client requests are served.' }),
    hwidLockEnabled: t.boolean({ description: 'Whether licenses are bound to a device.' }),
    requireLicenseToRegister: t.boolean({ description: 'Whether end users need a license key to register.' }),
    registrationEnabled: t.boolean({ description: 'Whether end users can register themselves.' }),
    protocol: t.field({
      type: applicationProtocol,
      description: 'Which versions of the sealed protocol are accepted.',
    }),
    leasesEnabled: t.boolean({
      description:
        'Whether clients get offline leases: signed texts that let a program continue without the network.',
    }),
    leaseDays: t.int({ description: 'The term of a lease in days: 1 to 30.' }),
    responseMessages: t.field({
      type: [ResponseMessageInput],
      description: 'The texts to change; the others stay as they are.',
    }),
  }),
});

const UpdateApplicationSettingsPayload = builder
  .objectRef<{ id: string }>('UpdateApplicationSettingsPayload')
  .implement({
    description: 'The application after the change.',
    fields: (t) => ({
      application: t.field({
        type: Application,
        description: 'The application.',
        resolve: ({ id }, _args, context, info) => changedApplication(id, context, info),
      }),
    }),
  });

const DeleteApplicationInput = builder.inputType('DeleteApplicationInput', {
  description: 'The application to delete, with its licenses, end users, bans and log.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The id of the application.' }) }),
});

const DeleteApplicationPayload = builder.objectRef<{ id: string }>('DeleteApplicationPayload').implement({
  description: 'The deleted application.',
  fields: (t) => ({
    deletedApplicationId: t.exposeID('id', { description: 'The id of the deleted application.' }),
  }),
});

builder.mutationFields((t) => ({
  createApplication: t.field({
    ...rateLimited('appCreate'),
    type: CreateApplicationPayload,
    ...withInput(CreateApplicationInput, 'The new application.'),
    description: 'Creates an application with a new Ed25519 key pair. Errors: LIMIT_REACHED.',
    resolve: async (_parent, { input }, { service }) => {
      const application = await createApplication({
        ctx: service,
        input: withoutNulls(input),
      });
      return { application, sdkHint: sdkHint(service, application) };
    },
  }),
  updateApplicationSettings: t.field({
    type: UpdateApplicationSettingsPayload,
    ...withInput(UpdateApplicationSettingsInput, 'The application and its new settings.'),
    description: 'Changes settings of an application. Errors: APP_NOT_FOUND.',
    resolve: (_parent, { input: { id, ...settings } }, { service }) =>
      updateApplicationSettings({
        ctx: service,
        input: { id, settings: parseInput(settingsInput, withoutNulls(settings)) },
      }),
  }),
  deleteApplication: t.field({
    type: DeleteApplicationPayload,
    ...withInput(DeleteApplicationInput, 'The application.'),
    description:
      'Deletes an application with everything that belongs to it. Errors: CONFIRMATION_REQUIRED, APP_NOT_FOUND.',
    resolve: async (_parent, { input }, { service }) => {
      await deleteApplication({ ctx: service, input });
      return input;
    },
  }),
}));

/** GraphQL has no maps: a list in which each key may occur once. */
const messageList = z
  // Members of a list that is too long are not parsed: each could have issues to report.
  .array(z.unknown())
  .max(Object.keys(messageKeys).length)
  .pipe(z.array(z.object({ key: responseMessageKey, text: responseMessageText })))
  .transform((messages, context): Partial<Record<MessageKey, string>> => {
    const texts = new Map<MessageKey, string>();
    for (const [index, { key, text }] of messages.entries()) {
      if (texts.has(key)) context.addIssue({ code: 'custom', path: [index, 'key'], message: 'occurs twice' });
      texts.set(key, text);
    }
    return Object.fromEntries(texts);
  });

const settingsInput = updateApplicationSettingsInput.extend({ responseMessages: messageList.optional() });
