import { type BegunTotp, beginTotp } from '../../services/account/begin-totp.ts';
import { confirmSession } from '../../services/account/confirm-session.ts';
import { confirmTotp } from '../../services/account/confirm-totp.ts';
import { disableTotp } from '../../services/account/disable-totp.ts';
import { renewRecoveryCodes } from '../../services/account/renew-recovery-codes.ts';
import { type SecurityRow, securityTable } from '../../services/account/security.ts';
import { setRequireConfirmation } from '../../services/account/set-require-confirmation.ts';
import { requireAuthenticated } from '../../services/actor.ts';
import { accountDeleted } from '../../services/transaction.ts';
import { builder } from '../builder.ts';
import { withInput, withoutNulls } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';
import { toChanged, toExactlyOne } from '../to-one.ts';
import { Account } from './account.ts';

const AccountSecurity = builder.objectRef<SecurityRow>('AccountSecurity').implement({
  description: 'How an account is protected besides its password.',
  fields: (t) => ({
    totpEnabled: t.exposeBoolean('totpEnabled', { description: 'Whether a login needs a code.' }),
    recoveryCodesLeft: t.exposeInt('recoveryCodesLeft', {
      description: 'How many recovery codes are unused.',
    }),
    requireConfirmation: t.exposeBoolean('requireConfirmation', {
      description: 'Whether dangerous acts by a session need a confirmation although TOTP is off.',
    }),
  }),
});

const findSecurity = toExactlyOne<SecurityRow>(securityTable, accountDeleted);
const changedSecurity = toChanged<SecurityRow>(securityTable, accountDeleted);

builder.objectField(Account, 'security', (t) =>
  t.field({
    type: AccountSecurity,
    description: 'How the account is protected besides its password.',
    resolve: ({ id }, _args, context, info) => findSecurity(id, context, info),
  }),
);

/** The payload of a mutation that changes how the account is protected. */
const securityPayload = (name: string) =>
  builder.objectRef<object>(name).implement({
    description: 'How the account is protected after the change.',
    fields: (t) => ({
      security: t.field({
        type: AccountSecurity,
        description: 'How the account is protected.',
        resolve: (_parent, _args, context, info) =>
          changedSecurity(requireAuthenticated(context.service.actor).developerId, context, info),
      }),
    }),
  });

const recoveryCodesPayload = (name: string, description: string) =>
  builder.objectRef<{ readonly recoveryCodes: readonly string[] }>(name).implement({
    description,
    fields: (t) => ({
      recoveryCodes: t.stringList({
        description: 'Ten recovery codes. Each replaces a TOTP code once. They are shown only now.',
        resolve: ({ recoveryCodes }) => recoveryCodes,
      }),
    }),
  });

const passwordField = { required: true, description: "The account's password." } as const;
const totpCodeField = { description: 'The code of the authenticator app, while TOTP is on.' } as const;
const recoveryCodeField = { description: 'A recovery code; used only without totpCode.' } as const;

const BeginTotpInput = builder.inputType('BeginTotpInput', {
  description: 'Proves who sets TOTP up.',
  fields: (t) => ({ password: t.string(passwordField) }),
});

const BeginTotpPayload = builder.objectRef<BegunTotp>('BeginTotpPayload').implement({
  description: 'The new secret. It is shown only once.',
  fields: (t) => ({
    secret: t.exposeString('secret', { description: 'In base32, to type into the app.' }),
    uri: t.exposeString('uri', { description: 'The same as an otpauth:// URI, for a QR code.' }),
  }),
});

const ConfirmTotpInput = builder.inputType('ConfirmTotpInput', {
  description: 'Proves that the app has the secret.',
  fields: (t) => ({
    totpCode: t.string({ required: true, description: 'A code of the new secret: six digits.' }),
  }),
});

const DisableTotpInput = builder.inputType('DisableTotpInput', {
  description: 'Proves who turns TOTP off.',
  fields: (t) => ({
    password: t.string(passwordField),
    totpCode: t.string(totpCodeField),
    recoveryCode: t.string(recoveryCodeField),
  }),
});

const RenewRecoveryCodesInput = builder.inputType('RenewRecoveryCodesInput', {
  description: 'Proves who replaces the codes.',
  fields: (t) => ({
    password: t.string(passwordField),
    totpCode: t.string(totpCodeField),
    recoveryCode: t.string(recoveryCodeField),
  }),
});

const ConfirmSessionInput = builder.inputType('ConfirmSessionInput', {
  description: 'Proves who uses the session.',
  fields: (t) => ({
    password: t.string(passwordField),
    totpCode: t.string(totpCodeField),
    recoveryCode: t.string(recoveryCodeField),
  }),
});

const ConfirmSessionPayload = builder
  .objectRef<{ readonly confirmedUntil: Date }>('ConfirmSessionPayload')
  .implement({
    description: 'The confirmation.',
    fields: (t) => ({
      confirmedUntil: t.expose('confirmedUntil', { type: 'DateTime', description: 'When it ends.' }),
    }),
  });

const SetRequireConfirmationInput = builder.inputType('SetRequireConfirmationInput', {
  description: 'Whether dangerous acts by a session need a confirmation.',
  fields: (t) => ({
    requireConfirmation: t.boolean({
      required: true,
      description: 'The setting. While TOTP is on, confirmations are needed in any case.',
    }),
    password: t.string(passwordField),
  }),
});

const proved = 'Errors: INVALID_CREDENTIALS, TOTP_REQUIRED, TOTP_INVALID, RATE_LIMITED';

builder.mutationFields((t) => ({
  beginTotp: t.field({
    ...rateLimited('accountSensitive'),
    type: BeginTotpPayload,
    ...withInput(BeginTotpInput, 'The password.'),
    description:
      'Begins to turn TOTP on, with a secret for an authenticator app. Nothing changes until confirmTotp. Errors: INVALID_CREDENTIALS, INVALID_TRANSITION.',
    resolve: (_parent, { input }, { service }) => beginTotp({ ctx: service, input }),
  }),
  confirmTotp: t.field({
    ...rateLimited('accountSensitive'),
    type: recoveryCodesPayload('ConfirmTotpPayload', 'TOTP is on.'),
    ...withInput(ConfirmTotpInput, 'A code.'),
    description:
      'Turns TOTP on: from now on, a login needs a code. API keys are not affected. Errors: TOTP_INVALID, INVALID_TRANSITION.',
    resolve: async (_parent, { input }, { service }) => ({
      recoveryCodes: await confirmTotp({ ctx: service, input }),
    }),
  }),
  disableTotp: t.field({
    ...rateLimited('accountSensitive'),
    type: securityPayload('DisableTotpPayload'),
    ...withInput(DisableTotpInput, 'The password and a code.'),
    description: `Turns TOTP off, and deletes the recovery codes. ${proved}, INVALID_TRANSITION.`,
    resolve: async (_parent, { input }, { service }) => {
      await disableTotp({ ctx: service, input: withoutNulls(input) });
      return {};
    },
  }),
  renewRecoveryCodes: t.field({
    ...rateLimited('accountSensitive'),
    type: recoveryCodesPayload('RenewRecoveryCodesPayload', 'The new codes.'),
    ...withInput(RenewRecoveryCodesInput, 'The password and a code.'),
    description: `Replaces the recovery codes. ${proved}, INVALID_TRANSITION.`,
    resolve: async (_parent, { input }, { service }) => ({
      recoveryCodes: await renewRecoveryCodes({ ctx: service, input: withoutNulls(input) }),
    }),
  }),
  confirmSession: t.field({
    ...rateLimited('accountSensitive'),
    type: ConfirmSessionPayload,
    ...withInput(ConfirmSessionInput, 'The password, and a code while TOTP is on.'),
    description: `Confirms the session for ten minutes, for the acts that otherwise return CONFIRMATION_REQUIRED. With an API key: FORBIDDEN. ${proved}.`,
    resolve: async (_parent, { input }, { service }) => ({
      confirmedUntil: await confirmSession({ ctx: service, input: withoutNulls(input) }),
    }),
  }),
  setRequireConfirmation: t.field({
    ...rateLimited('accountSensitive'),
    type: securityPayload('SetRequireConfirmationPayload'),
    ...withInput(SetRequireConfirmationInput, 'The setting.'),
    description:
      'Sets whether these need a confirmation of the session although TOTP is off: to delete the account, an application, or licenses; to change the email address, the password, the vault or this setting; to create, change or rotate API keys; to create or change webhooks and their secrets; to export data. Errors: INVALID_CREDENTIALS, CONFIRMATION_REQUIRED.',
    resolve: async (_parent, { input }, { service }) => {
      await setRequireConfirmation({ ctx: service, input });
      return {};
    },
  }),
}));
