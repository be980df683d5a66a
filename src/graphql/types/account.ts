import { deleteAccount, deleteAccountInput } from '../../services/account/delete.ts';
import { setMask, setMaskInput } from '../../services/account/set-mask.ts';
import { setMode, setModeInput } from '../../services/account/set-mode.ts';
import { setVault, setVaultInput } from '../../services/account/set-vault.ts';
import { accountTable } from '../../services/account/table.ts';
import { updateProfile, updateProfileInput } from '../../services/account/update-profile.ts';
import { requireDeveloper } from '../../services/actor.ts';
import type { DeveloperView } from '../../services/auth/developer-view.ts';
import { accountDeleted } from '../../services/transaction.ts';
import { builder } from '../builder.ts';
import { parseExactly, parseInput } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';
import { reads } from '../selected-columns.ts';
import { toExactlyOne } from '../to-one.ts';
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
      description: "Salt of the key that the browser derives from the vault's passphrase, in base64.",
    }),
    vaultCheckB64: t.exposeString('vaultCheckB64', {
      description: 'A known text sealed under that key, by which to tell a wrong passphrase, in base64.',
    }),
  }),
});

/** What the account of a developer is set to, apart from who the developer is. */
export const Account = builder.prismaObject('Developer', {
  variant: 'Account',
  description: "How a developer's account is set up.",
  select: { id: true, keyCreationMode: true, licenseMask: true, vaultSaltB64: true, vaultCheckB64: true },
  fields: (t) => ({
    id: t.id({ description: "The developer's id.", resolve: ({ id }) => id }),
    keyCreationMode: t.field({
      type: keyCreationMode,
      description: 'Where license keys are made.',
      resolve: (account) => account.keyCreationMode,
    }),
    licenseMask: t.string({
      nullable: true,
      description: "The mask of keys that are minted without one; null for the service's own.",
      resolve: ({ licenseMask }) => licenseMask,
    }),
    vault: t.field({
      ...reads('vaultSaltB64', 'vaultCheckB64'),
      type: Vault,
      nullable: true,
      description: 'Of private mode; null until it is set up.',
      resolve: ({ vaultSaltB64, vaultCheckB64 }) =>
        vaultSaltB64 === null || vaultCheckB64 === null ? null : { vaultSaltB64, vaultCheckB64 },
    }),
  }),
});

const findAccount = toExactlyOne<typeof Account.$inferType>(accountTable, accountDeleted);

builder.prismaObjectField('Developer', 'account', (t) =>
  t.field({
    type: Account,
    description: 'How the account is set up.',
    resolve: ({ id }, _args, context, info) => findAccount(id, context, info),
  }),
);

/** The payload of a mutation that sets something of the account. */
const accountPayload = (name: string) =>
  builder.objectRef<object>(name).implement({
    description: 'The account as it is now.',
    fields: (t) => ({
      account: t.field({
        type: Account,
        description: 'The account.',
        resolve: (_parent, _args, context, info) =>
          findAccount(requireDeveloper(context.service.actor), context, info),
      }),
    }),
  });

const SetLicenseMaskInput = builder.inputType('SetLicenseMaskInput', {
  description: 'The mask of license keys that are minted without one.',
  fields: (t) => ({
    mask: t.string({
      description:
        "Each X becomes a random character; at least 8 are needed. Null, or left out, for the service's own.",
    }),
  }),
});

const SetKeyCreationModeInput = builder.inputType('SetKeyCreationModeInput', {
  description: 'Where license keys are to be made.',
  fields: (t) => ({
    mode: t.field({ type: keyCreationMode, required: true, description: 'Where.' }),
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
  description: 'What to change of who you are; what is left out stays.',
  fields: (t) => ({
    name: t.string({ description: 'What to call you: 1 to 100 characters.' }),
    email: t.string({ description: 'An e-mail address that has no other account.' }),
    newPassword: t.string({ description: '12 to 128 characters. It ends every other session.' }),
    password: t.string({ required: true, description: 'The current password.' }),
  }),
});

const UpdateProfilePayload = builder.objectRef<DeveloperView>('UpdateProfilePayload').implement({
  description: 'Who you are now. After a new password, a new session cookie is set on this answer.',
  fields: (t) => ({
    developer: t.field({ type: Developer, description: 'You.', resolve: (developer) => developer }),
  }),
});

const DeleteAccountInput = builder.inputType('DeleteAccountInput', {
  description: 'What makes sure that you mean it.',
  fields: (t) => ({
    password: t.string({ required: true, description: "The account's password." }),
    confirm: t.string({ required: true, description: 'The text DELETE.' }),
  }),
});

const DeleteAccountPayload = builder.objectRef<{ id: string }>('DeleteAccountPayload').implement({
  description: 'What is gone. The session cookie is cleared on this answer.',
  fields: (t) => ({ deletedDeveloperId: t.exposeID('id', { description: 'The id you had.' }) }),
});

builder.mutationFields((t) => ({
  setLicenseMask: t.field({
    type: accountPayload('SetLicenseMaskPayload'),
    nullable: true,
    description: "Sets the account's default license key mask.",
    args: { input: t.arg({ type: SetLicenseMaskInput, required: true, description: 'The mask.' }) },
    resolve: async (_parent, { input: { mask } }, { service }) => {
      await setMask({
        ctx: service,
        input: parseExactly(setMaskInput, { mask: mask ?? null }),
      });
      return {};
    },
  }),
  setKeyCreationMode: t.field({
    ...rateLimited('accountSensitive'),
    type: accountPayload('SetKeyCreationModePayload'),
    nullable: true,
    description: 'Switches where license keys are made. Errors: INVALID_CREDENTIALS.',
    args: { input: t.arg({ type: SetKeyCreationModeInput, required: true, description: 'Where.' }) },
    resolve: async (_parent, { input }, { service }) => {
      await setMode({ ctx: service, input: parseInput(setModeInput, input) });
      return {};
    },
  }),
  setVault: t.field({
    ...rateLimited('accountSensitive'),
    type: accountPayload('SetVaultPayload'),
    nullable: true,
    description:
      'Stores what a browser needs to unlock the notes of private mode. Errors: INVALID_CREDENTIALS.',
    args: { input: t.arg({ type: SetVaultInput, required: true, description: 'The vault.' }) },
    resolve: async (_parent, { input }, { service }) => {
      await setVault({ ctx: service, input: parseInput(setVaultInput, input) });
      return {};
    },
  }),
  updateProfile: t.field({
    ...rateLimited('accountSensitive'),
    type: UpdateProfilePayload,
    nullable: true,
    description: 'Changes your name, address or password. Errors: INVALID_CREDENTIALS, EMAIL_TAKEN.',
    args: { input: t.arg({ type: UpdateProfileInput, required: true, description: 'What to change.' }) },
    resolve: async (_parent, { input }, { service, session }) => {
      const changed = await updateProfile({ ctx: service, input: parseInput(updateProfileInput, input) });
      if (changed.cookieToken !== null) session.start(changed.cookieToken);
      return changed.developer;
    },
  }),
  deleteAccount: t.field({
    ...rateLimited('accountSensitive'),
    type: DeleteAccountPayload,
    nullable: true,
    description:
      'Deletes the account with its applications, licenses, end users and log. This cannot be undone. Errors: INVALID_CREDENTIALS.',
    args: {
      input: t.arg({ type: DeleteAccountInput, required: true, description: 'That you mean it.' }),
    },
    resolve: async (_parent, { input }, { service, session }) => {
      const id = requireDeveloper(service.actor);
      await deleteAccount({ ctx: service, input: parseInput(deleteAccountInput, input) });
      session.end();
      return { id };
    },
  }),
}));
