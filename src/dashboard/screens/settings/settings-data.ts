import { graphql } from '../../generated/gql.ts';
import type { SettingsFieldsFragment, UpdateApplicationSettingsInput } from '../../generated/graphql.ts';
import { changedMembers } from '../../ui/use-draft.ts';
import { defaultTexts, isMessageKey, type MessageKey } from './messages.ts';

/** What the form needs. */
export const SettingsFields = graphql(`
  fragment SettingsFields on Application {
    version
    status
    protocol
    hwidLockEnabled
    registrationEnabled
    requireLicenseToRegister
    leasesEnabled
    leaseDays
    responseMessages {
      key
      text
    }
  }
`);

export const SettingsScreen = graphql(`
  query SettingsScreen($applicationId: ID!) {
    application(id: $applicationId) {
      id
      name
      createdAt
      updatedAt
      publicKeyB64
      ...SettingsFields
    }
  }
`);

/** An application's settings as the form edits them. */
export interface SettingsValues
  extends Omit<SettingsFieldsFragment, '__typename' | 'responseMessages' | 'leaseDays' | ' $fragmentName'> {
  readonly leaseDays: number | null;
  /** The vendor's own texts; the others have their defaults. */
  readonly messages: Readonly<Partial<Record<MessageKey, string>>>;
}

export function valuesOf(fields: SettingsFieldsFragment): SettingsValues {
  const own = fields.responseMessages.filter(
    ({ key, text }) => isMessageKey(key) && text !== defaultTexts[key],
  );
  return {
    version: fields.version,
    status: fields.status,
    protocol: fields.protocol,
    hwidLockEnabled: fields.hwidLockEnabled,
    registrationEnabled: fields.registrationEnabled,
    requireLicenseToRegister: fields.requireLicenseToRegister,
    leasesEnabled: fields.leasesEnabled,
    leaseDays: fields.leaseDays,
    messages: Object.fromEntries(own.map(({ key, text }) => [key, text])),
  };
}

type Change = Omit<UpdateApplicationSettingsInput, 'id'>;

const plain = ({ messages: _messages, ...values }: SettingsValues): Change => ({
  ...values,
  version: values.version.trim(),
  leaseDays: values.leaseDays ?? 0,
});

/** The texts of all keys as the service stores them. */
const textsOf = ({ messages }: SettingsValues): Record<MessageKey, string> => {
  const own = Object.entries(messages).filter(([, text]) => text.trim() !== '');
  return { ...defaultTexts, ...Object.fromEntries(own.map(([key, text]) => [key, text.trim()])) };
};

/** What to send so that the settings become these. */
export function changeOf(before: SettingsValues, after: SettingsValues): Change {
  const texts = Object.entries(changedMembers(textsOf(before), textsOf(after)));
  const responseMessages = texts.flatMap(([key, text]) => (isMessageKey(key) ? [{ key, text }] : []));
  return {
    ...changedMembers(plain(before), plain(after)),
    ...(responseMessages.length > 0 && { responseMessages }),
  };
}

export const countOf = ({ responseMessages, ...others }: Change): number =>
  Object.keys(others).length + (responseMessages?.length ?? 0);
