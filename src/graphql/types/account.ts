import { deleteAccount } from '../../services/account/delete.ts';
import { setMask } from '../../services/account/set-mask.ts';
import { setMode } from '../../services/account/set-mode.ts';
import { setVault } from '../../services/account/set-vault.ts';
import { type AccountRow, accountSelect, accountTable } from '../../services/account/table.ts';
import { updateProfile } from '../../services/account/update-profile.ts';
import { requireAuthenticated } from '../../services/actor.ts';
import type { DeveloperView } from '../../services/auth/developer-view.ts';
import { accountDeleted } from '../../services/transaction.ts';
import { builder } from '../builder.ts';
import { withInput, withoutNulls } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';
import { reads } from '../selected-columns.ts';
import { toChanged, toExactlyOne } from '../to-one.ts';
import { Developer, keyCreationMode } from './developer.ts';

interface VaultShape {
  readonly vaultSaltB64: string;
  readonly vaultCheckB64: string;
}

const Vault = builder.objectRef<VaultShape>('Vault').implement({
  description:
    'What a browser needs to unlock the notes of private mode. The service never sees the passphrase or the key.',
  fields: (t) => ({
    vaultSaltB64: t.exposeString('vaultSaltB64', {
      description: "Base64 of the salt of the key that the browser derives from the vault's passphrase.",
    }),
    vaultCheckB64: t.exposeString('vaultCheckB64', {
      description: 'Base64 of a known text that is encrypted under that key; it reveals a wrong passphrase.',
    }),
  }),
});

/** The settings of a developer's account. It has the developer's id, so it is no Node. */
export const Account = builder.prismaObject('Developer', {
  variant: 'Account',
  description: "The settings of a developer's account.",
  select: accountSelect,
});

builder.objectFields(Account, (t) => ({
  id: t.exposeID('id', { description: "The developer's id." }),
  keyCreationMode: t.expose('keyCreationMode', {
    type: keyCreationMode,
    description: 'Where license keys are generated.',
  }),
  licenseMask: t.exposeString('licenseMask', {
    nullable: true,
    description:
      "The mask of license keys that are created without one; null if the service's default applies.",
  }),
  vault: t.field({
    ...reads('vaultSaltB64', 'vaultCheckB64'),
    type: Vault,
    nullable: true,
    description: 'The vault of private mode; null until it is set up.',
    resolve: ({ vaultSaltB64, vaultCheckB64 }) =>
      vaultSaltB64 === null || vaultCheckB64 === null ? null : { vaultSaltB64, vaultCheckB64 },
  }),
}));

const findAccount = toExactlyOne<AccountRow>(accountTable, accountDeleted);
const changedAccount = toChanged<AccountRow>(accountTable, accountDeleted);

builder.objectField(Developer, 'account', (t) =>
  t.field({
    type: Account,
    description: "The account's settings.",
    resolve: ({ id }, _args, context, info) => findAccount(id, context, info),
  }),
);

/** The payload of a mutation that changes the account's settings. */
const accountPayload = (name: string) =>
  builder.objectRef<object>(name).implement({
    description: 'The account after the change.',
    fields: (t) => ({
      account: t.field({
        type: Account,
        description: 'The account.',
        resolve: (_parent, _args, context, info) =>
          changedAccount(requireAuthenticated(context.service.actor).developerId, context, info),
      }),
    }),
  });

const SetLicenseMaskInput = builder.inputType('SetLicenseMaskInput', {
  description: 'The mask of license keys that are created without one.',
  fields: (t) => ({
    mask: t.string({
      description:
        "Each X becomes a random character; at least 8 are required. Null or omitted: the service's default.",
    }),
  }),
});

const SetKeyCreationModeInput = builder.inputType('SetKeyCreationModeInput', {
  description: 'Where to generate license keys.',
  fields: (t) => ({
    mode: t.field({ type: keyCreationMode, required: true, description: 'The mode.' }),
    password: t.string({ required: true, description: "The account's password." }),
  }),
});

const SetVaultInput = builder.inputType('SetVaultInput', {
  description: 'What a browser needs to unlock the notes of private mode.',
  fields: (t) => ({
    vaultSaltB64: t.string({ required: true, description: 'Base64 of 16 to 64 bytes.' }),
    vaultCheckB64: t.string({ required: true, description: 'Base64 of 16 to 1024 bytes.' }),
    password: t.string({ required: true, description: "The account's password." }),
  }),
});

const UpdateProfileInput = builder.inputType('UpdateProfileInput', {
  description: 'Changes to your profile. Omitted fields are unchanged.',
  fields: (t) => ({
    name: t.string({ description: 'The display name: 1 to 100 characters.' }),
    email: t.string({ description: 'An email address that no other account has.' }),
    newPassword: t.string({ description: '12 to 128 characters. Ends all other sessions.' }),
    password: t.string({ required: true, description: 'The current password.' }),
  }),
});

const UpdateProfilePayload = builder.objectRef<DeveloperView>('UpdateProfilePayload').implement({
  description:
    'Your profile after the change. If the password was changed, the response sets a new session cookie.',
  fields: (t) => ({
    developer: t.field({ type: Developer, description: 'You.', resolve: (developer) => developer }),
  }),
});

const DeleteAccountInput = builder.inputType('DeleteAccountInput', {
  description: 'Confirms the deletion.',
  fields: (t) => ({
    password: t.string({ required: true, description: "The account's password." }),
    confirm: t.string({ required: true, description: 'The text DELETE.' }),
  }),
});

const DeleteAccountPayload = builder.objectRef<{ id: string }>('DeleteAccountPayload').implement({
  description: 'The deleted account. The response clears the session cookie.',
  fields: (t) => ({
    deletedDeveloperId: t.exposeID('id', { description: 'The id of the deleted developer.' }),
  }),
});

builder.mutationFields((t) => ({
  setLicenseMask: t.field({
    type: accountPayload('SetLicenseMaskPayload'),
    ...withInput(SetLicenseMaskInput, 'The mask.'),
    description: "Sets the account's default license key mask.",
    resolve: async (_parent, { input: { mask } }, { service }) => {
      await setMask({ ctx: service, input: { mask: mask ?? null } });
      return {};
    },
  }),
  setKeyCreationMode: t.field({
    ...rateLimited('accountSensitive'),
    type: accountPayload('SetKeyCreationModePayload'),
    ...withInput(SetKeyCreationModeInput, 'The mode.'),
    description: 'Sets where license keys are generated. Errors: INVALID_CREDENTIALS.',
    resolve: async (_parent, { input }, { service }) => {
      await setMode({ ctx: service, input });
      return {};
    },
  }),
  setVault: t.field({
    ...rateLimited('accountSensitive'),
    type: accountPayload('SetVaultPayload'),
    ...withInput(SetVaultInput, 'The vault.'),
    description:
      'Stores what a browser needs to unlock the notes of private mode. Errors: INVALID_CREDENTIALS, CONFIRMATION_REQUIRED.',
    resolve: async (_parent, { input }, { service }) => {
      await setVault({ ctx: service, input });
      return {};
    },
  }),
  updateProfile: t.field({
    ...rateLimited('accountSensitive'),
    type: UpdateProfilePayload,
    ...withInput(UpdateProfileInput, 'The changes.'),
    description:
      'Changes your name, email address or password. Errors: INVALID_CREDENTIALS, CONFIRMATION_REQUIRED, EMAIL_TAKEN.',
    resolve: async (_parent, { input }, { service, session }) => {
      const changed = await updateProfile({ ctx: service, input: withoutNulls(input) });
      if (changed.cookieToken !== null) session.start(changed.cookieToken);
      return changed.developer;
    },
  }),
  deleteAccount: t.field({
    ...rateLimited('accountSensitive'),
    type: DeleteAccountPayload,
    ...withInput(DeleteAccountInput, 'The confirmation.'),
    description:
      'Deletes the account with its applications, licenses, end users and log. This cannot be undone. Errors: INVALID_CREDENTIALS, CONFIRMATION_REQUIRED.',
    resolve: async (_parent, { input }, { service, session }) => {
      const id = requireAuthenticated(service.actor).developerId;
      await deleteAccount({ ctx: service, input });
      session.end();
      return { id };
    },
  }),
}));
