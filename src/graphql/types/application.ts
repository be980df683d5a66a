import { z } from 'zod';
import { createApplication, createApplicationInput } from '../../services/application/create.ts';
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
  settingsNotEmpty,
  updateApplicationSettings,
  updateApplicationSettingsInput,
} from '../../services/application/update-settings.ts';
import { applicationSelect } from '../../services/application/view.ts';
import { applicationNotFound } from '../../services/errors.ts';
import { builder } from '../builder.ts';
import { connectionComplexity, connectionType } from '../connection.ts';
import { parseInput } from '../input.ts';
import { listField } from '../list.ts';
import { rateLimited } from '../rate-limit.ts';
import { reads } from '../selected-columns.ts';
import { toExactlyOne } from '../to-one.ts';

const applicationStatus = builder.enumType('ApplicationStatus', {
  values: {
    active: { description: 'Clients are served.' },
    disabled: { description: 'Clients are refused with APP_DISABLED.' },
  } as const,
  description: 'Whether clients of the application are served.',
});

const messageKeys = {
  OK: { description: 'The license is valid.' },
  APP_DISABLED: { description: 'The application is disabled.' },
  APP_OUTDATED: { description: 'The client is of another version than the application.' },
  IP_BANNED: { description: "The client's address is banned." },
  HWID_BANNED: { description: "The client's device is banned." },
  LICENSE_NOT_FOUND: { description: 'There is no such key.' },
  BANNED: { description: 'The license is banned.' },
  EXPIRED: { description: "The license's term is over." },
  HWID_MISMATCH: { description: 'The license is bound to another device.' },
  REGISTER_DISABLED: { description: 'End users cannot register by themselves.' },
  LICENSE_REQUIRED: { description: 'Registering needs a license key.' },
  INVALID_CREDENTIALS: { description: 'Wrong username or password.' },
  USERNAME_TAKEN: { description: 'The username is in use.' },
  USER_NOT_FOUND: { description: 'There is no such end user.' },
  TIER_NOT_HIGHER: { description: 'An upgrade needs a license of a higher tier.' },
} as const satisfies Record<MessageKey, object>;

const messageKey = builder.enumType('MessageKey', {
  description: 'Which of the texts that clients are shown.',
  values: messageKeys,
});

const ResponseMessage = builder.objectRef<{ key: MessageKey; text: string }>('ResponseMessage').implement({
  description: 'A text that clients are shown.',
  fields: (t) => ({
    key: t.expose('key', { type: messageKey, description: 'When it is shown.' }),
    text: t.exposeString('text', {
      description: 'What it says.',
      // As long as many fields are: up to 1.5 kB.
      complexity: { field: 4, multiplier: 1 },
    }),
  }),
});

export const Application = builder.prismaObject('Application', {
  description: 'A program that a developer sells.',
  select: applicationSelect,
  fields: (t) => ({
    id: t.id({ description: 'UUID; clients embed it as appId.', resolve: ({ id }) => id }),
    name: t.string({ description: 'Its name.', resolve: ({ name }) => name }),
    version: t.string({
      description: 'Clients must send exactly this string.',
      resolve: ({ version }) => version,
    }),
    status: t.field({
      type: applicationStatus,
      description: 'Whether its clients are served.',
      resolve: ({ status }) => status,
    }),
    hwidLockEnabled: t.boolean({
      description: 'Whether a license is bound to the first device that sends a HWID.',
      resolve: ({ hwidLockEnabled }) => hwidLockEnabled,
    }),
    requireLicenseToRegister: t.boolean({
      description: 'Whether an end user needs a license key to register.',
      resolve: ({ requireLicenseToRegister }) => requireLicenseToRegister,
    }),
    registrationEnabled: t.boolean({
      description: 'Whether end users can register by themselves.',
      resolve: ({ registrationEnabled }) => registrationEnabled,
    }),
    responseMessages: t.field({
      type: [ResponseMessage],
      description: 'Every text that clients are shown: the defaults under your own.',
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
      resolve: ({ publicKey }) => Buffer.from(publicKey).toString('base64'),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was made.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'When it last changed.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
  }),
});

/** The application that something belongs to, or that a mutation was about. */
export const findApplication = toExactlyOne<typeof Application.$inferType>(
  applicationTable,
  applicationNotFound,
);

export const ApplicationConnection = connectionType('ApplicationConnection', Application, 'applications');

builder.prismaObjectField('Developer', 'applications', (t) =>
  t.field({
    type: ApplicationConnection,
    description: 'The applications, newest first.',
    args: t.arg.connectionArgs(),
    complexity: connectionComplexity,
    ...listField<typeof Application.$inferType, z.ZodObject>(applicationsOfDevelopers, z.object({})),
  }),
);

builder.queryField('application', (t) =>
  t.field({
    type: Application,
    nullable: true,
    description: 'One of your applications. Null comes with an APP_NOT_FOUND error.',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_parent, { id }, context, info) => findApplication(id, context, info),
  }),
);

const SdkHintType = builder.objectRef<SdkHint>('SdkHint').implement({
  description: 'What to build into the program.',
  fields: (t) => ({
    baseUrl: t.exposeString('baseUrl', { description: 'Where the service is reached.' }),
    appId: t.exposeID('appId', { description: "The application's id." }),
    version: t.exposeString('version', { description: 'The version string to send.' }),
    publicKeyB64: t.exposeString('publicKeyB64', { description: 'The key that answers are signed with.' }),
    snippet: t.exposeString('snippet', { description: 'TypeScript that validates a license with the SDK.' }),
  }),
});

const CreateApplicationInput = builder.inputType('CreateApplicationInput', {
  description: 'A new application.',
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 100 characters.' }),
    version: t.string({ description: 'What clients must send; 1.0.0 when left out.' }),
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
        resolve: ({ application }, _args, context, info) => findApplication(application.id, context, info),
      }),
      sdkHint: t.expose('sdkHint', { type: SdkHintType, description: 'What to build into the program.' }),
    }),
  });

const ResponseMessageInput = builder.inputType('ResponseMessageInput', {
  description: 'A text to show clients instead of the default.',
  fields: (t) => ({
    key: t.field({ type: messageKey, required: true, description: 'When it is shown.' }),
    text: t.string({ required: true, description: '1 to 500 characters.' }),
  }),
});

const UpdateApplicationSettingsInput = builder.inputType('UpdateApplicationSettingsInput', {
  description: 'Settings to change; what is left out stays. At least one is needed.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The application.' }),
    version: t.string({ description: 'What clients must send from now on.' }),
    status: t.field({ type: applicationStatus, description: 'Whether clients are served.' }),
    hwidLockEnabled: t.boolean({ description: 'Whether licenses are bound to a device.' }),
    requireLicenseToRegister: t.boolean({ description: 'Whether registering needs a license key.' }),
    registrationEnabled: t.boolean({ description: 'Whether end users can register by themselves.' }),
    responseMessages: t.field({
      type: [ResponseMessageInput],
      description: 'Texts to change; the others stay as they are.',
    }),
  }),
});

const UpdateApplicationSettingsPayload = builder
  .objectRef<{ id: string }>('UpdateApplicationSettingsPayload')
  .implement({
    description: 'The application as it is now.',
    fields: (t) => ({
      application: t.field({
        type: Application,
        description: 'The application.',
        resolve: ({ id }, _args, context, info) => findApplication(id, context, info),
      }),
    }),
  });

const DeleteApplicationInput = builder.inputType('DeleteApplicationInput', {
  description: 'An application to delete, with its licenses, end users, bans and log.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The application.' }) }),
});

const DeleteApplicationPayload = builder.objectRef<{ id: string }>('DeleteApplicationPayload').implement({
  description: 'What is gone.',
  fields: (t) => ({ deletedApplicationId: t.exposeID('id', { description: 'The id it had.' }) }),
});

builder.mutationFields((t) => ({
  createApplication: t.field({
    ...rateLimited('appCreate'),
    type: CreateApplicationPayload,
    nullable: true,
    description: 'Makes an application with an Ed25519 key of its own. Errors: LIMIT_REACHED.',
    args: {
      input: t.arg({ type: CreateApplicationInput, required: true, description: 'The new application.' }),
    },
    resolve: async (_parent, { input }, { service }) => {
      const application = await createApplication({
        ctx: service,
        input: parseInput(createApplicationInput, input),
      });
      return { application, sdkHint: sdkHint(service, application) };
    },
  }),
  updateApplicationSettings: t.field({
    type: UpdateApplicationSettingsPayload,
    nullable: true,
    description: 'Changes settings of an application. Errors: APP_NOT_FOUND.',
    args: {
      input: t.arg({
        type: UpdateApplicationSettingsInput,
        required: true,
        description: 'Which application, and what to change.',
      }),
    },
    resolve: (_parent, { input: { id, ...settings } }, { service }) =>
      updateApplicationSettings({
        ctx: service,
        input: { id, settings: parseInput(settingsInput, settings) },
      }),
  }),
  deleteApplication: t.field({
    type: DeleteApplicationPayload,
    nullable: true,
    description: 'Deletes an application and all that is its own. Errors: APP_NOT_FOUND.',
    args: {
      input: t.arg({ type: DeleteApplicationInput, required: true, description: 'Which application.' }),
    },
    resolve: async (_parent, { input: { id } }, { service }) => {
      await deleteApplication({ ctx: service, input: { id } });
      return { id };
    },
  }),
}));

/** GraphQL has no maps: a list in which each key may stand once. */
const messageList = z
  // A list that is too long is not looked into: each of its members could be wrong in its own way.
  .array(z.unknown())
  .max(Object.keys(messageKeys).length)
  .pipe(z.array(z.object({ key: responseMessageKey, text: responseMessageText })))
  .transform((messages, context): Partial<Record<MessageKey, string>> => {
    const texts = new Map<MessageKey, string>();
    for (const [index, { key, text }] of messages.entries()) {
      if (texts.has(key)) context.addIssue({ code: 'custom', path: [index, 'key'], message: 'stands twice' });
      texts.set(key, text);
    }
    return Object.fromEntries(texts);
  });

const settingsInput = updateApplicationSettingsInput
  .extend({ responseMessages: messageList.optional() })
  .refine(settingsNotEmpty, 'must have at least one of the settings');
