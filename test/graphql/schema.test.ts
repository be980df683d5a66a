import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  buildSchema,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';

/** The copy of the package that Pothos builds with; this file's import is of the one for bundlers. */
const native: typeof import('graphql') = createRequire(import.meta.url)('graphql');

const committed = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');

/** Everything in a schema that has a name and may have a description. */
interface Named {
  readonly path: string;
  readonly name: string;
  readonly description: string | null | undefined;
  readonly nullableOutput: boolean;
}

function* walk(type: GraphQLNamedType): Generator<Named> {
  const { name, description } = type;
  yield { path: name, name, description, nullableOutput: false };
  if (isEnumType(type)) {
    for (const value of type.getValues()) {
      yield { ...named(name, value), nullableOutput: false };
    }
  }
  if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields())) {
      yield { ...named(name, field), nullableOutput: false };
    }
  }
  if (isObjectType(type) || isInterfaceType(type)) {
    for (const field of Object.values(type.getFields())) {
      yield { ...named(name, field), nullableOutput: !String(field.type).endsWith('!') };
      for (const argument of field.args) {
        yield { ...named(`${name}.${field.name}`, argument), nullableOutput: false };
      }
    }
  }
}

const named = (
  parent: string,
  { name, description }: { name: string; description?: string | null | undefined },
) => ({
  path: `${parent}.${name}`,
  name,
  description,
});

const everything = Object.values(buildSchema(committed).getTypeMap())
  .filter(({ name }) => !name.startsWith('__') && !['Boolean', 'Float', 'ID', 'Int', 'String'].includes(name))
  .flatMap((type) => [...walk(type)]);

describe('schema.graphql', () => {
  test('is the sorted print of the schema', () => {
    expect(`${printSchema(lexicographicSortSchema(buildSchema(committed)))}\n`).toBe(committed);
    const names = Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__'));
    expect(new Set(everything.map(({ path }) => path).filter((path) => !path.includes('.')))).toEqual(
      new Set(names.filter((name) => !['Boolean', 'Float', 'ID', 'Int', 'String'].includes(name))),
    );
    expect(committed).toBe(`${native.printSchema(native.lexicographicSortSchema(schema))}\n`);
  });

  test('describes every type, field, argument, enum value and input field', () => {
    expect(everything.length).toBeGreaterThan(100);
    const silent = everything.filter(({ description }) => !/^\S.*\S$/s.test(description ?? ''));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test('says of every field that can be null when it is', () => {
    const nullable = everything.filter(
      ({ nullableOutput, path }) => nullableOutput && !path.startsWith('Mutation.'),
    );
    expect(nullable.length).toBeGreaterThan(5);
    expect(nullable.filter(({ description }) => !/\bnull\b/i.test(description ?? ''))).toEqual([]);
    // Of mutations the type says it once.
    expect(everything.find(({ path }) => path === 'Mutation')?.description).toContain(
      'null comes with an error',
    );
  });

  test('has no secret but those that are entered, or shown when they are made', () => {
    const suspicious = /password|hash(?!wid)|private_?key|secret|token|seed|vault|session/i;
    const found = everything.filter(({ name, path }) => suspicious.test(name) && path.includes('.'));
    expect(found.map(({ path }) => path).sort()).toEqual([
      // Ids and times; a session's cookie is not in the database.
      'Account.sessions',
      // The vault's salt and check are for its owner's browser; they open nothing by themselves.
      'Account.vault',
      // What a developer is called who has a session.
      'ActorKind.session',
      'BeginTotpInput.password',
      'BeginTotpPayload.secret',
      'BlindLicenseKeyInput.licenseKeyHash',
      'ConfirmSessionInput.password',
      'CreateEndUserInput.password',
      'CreateWebhookPayload.secret',
      'DeleteAccountInput.password',
      'DisableTotpInput.password',
      'LoginInput.password',
      'LoginInput.turnstileToken',
      'Mutation.confirmSession',
      'Mutation.revokeOtherSessions',
      'Mutation.revokeSession',
      'Mutation.rotateWebhookSecret',
      'Mutation.setVault',
      'RegisterInput.password',
      'RegisterInput.turnstileToken',
      'RenewRecoveryCodesInput.password',
      'RevokeSessionPayload.revokedSessionId',
      'RotateLicenseKeyInput.licenseKeyHash',
      'RotateWebhookSecretPayload.secret',
      'SecurityEvent.session_refused',
      'SecurityEvent.sessions_revoked',
      'SecurityEvent.webhook_secret_rotated',
      'SetKeyCreationModeInput.password',
      'SetRequireConfirmationInput.password',
      'SetVaultInput.password',
      'SetVaultInput.vaultCheckB64',
      'SetVaultInput.vaultSaltB64',
      'UpdateProfileInput.newPassword',
      'UpdateProfileInput.password',
      'Vault.vaultCheckB64',
      'Vault.vaultSaltB64',
      'Webhook.previousSecretUntil',
    ]);
    const keys = everything.filter(({ name }) => /key/i.test(name) && name !== 'key');
    expect(
      keys
        .map(({ path }) => path)
        .filter((path) => path.includes('.') && !/^(Mutation|SecurityEvent)\./.test(path))
        .sort(),
    ).toEqual([
      'Account.apiKeys',
      'Account.keyCreationMode',
      'ActorKind.api_key',
      'ApiKey.keyPrefix',
      'Application.publicKeyB64',
      'BlindLicense.keyPrefix',
      'BlindLicenseKeyInput.licenseKeyHash',
      'BlindLicenseKeyInput.licenseKeyPrefix',
      'BulkResult.keyPrefix',
      'CreateApiKeyPayload.apiKey',
      'CreateBlindLicensesInput.keys',
      'CreateBlindLicensesPayload.keys',
      'CreateEndUserInput.licenseKey',
      'CreateLicensesPayload.keys',
      'CreatePolicyInput.keyMask',
      'Developer.keyCreationMode',
      'License.keyPrefix',
      'MintedLicense.keyPrefix',
      'MintedLicense.licenseKey',
      'Policy.keyMask',
      'Query.explainLicense.licenseKey',
      'RotateApiKeyPayload.apiKey',
      'RotateLicenseKeyInput.licenseKeyHash',
      'RotateLicenseKeyInput.licenseKeyPrefix',
      'RotateLicenseKeyPayload.licenseKey',
      'SdkHint.publicKeyB64',
      'UpdatePolicyInput.keyMask',
      'VerdictRule.license_key',
    ]);
  });

  test('names the errors of every mutation that has some of its own', () => {
    const mutations = everything.filter(({ path }) => /^Mutation\.\w+$/.test(path));
    const silent = mutations.filter(({ description }) => !/Errors: [A-Z_, ]+/.test(description ?? ''));
    expect(silent.map(({ name }) => name).sort()).toEqual([
      'logout',
      'revokeOtherSessions',
      'setLicenseMask',
    ]);
  });
});
