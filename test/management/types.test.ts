import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { expectTypeOf, test } from 'vitest';
import {
  ApplicationsDocument,
  CreateLicensesDocument,
  type EntryOf,
  isManagementError,
  type LicenseFragment,
  LicensesDocument,
  type ManagementClient,
  ManagementError,
  MeDocument,
  type MintedLicenseFragment,
} from '../../src/management/index.ts';

// Checked by the compiler in `npm run check:static`; nothing here is run.
const never = (_statements: (latchkey: ManagementClient) => Promise<void>) => undefined;
const input = { applicationId: 'a', amount: 1, durationSeconds: 0 };

test('the result of an operation is typed, with its root fields', () => {
  never(async (latchkey) => {
    const { createLicenses } = await latchkey.request(CreateLicensesDocument, { input });
    expectTypeOf(createLicenses.keys).toEqualTypeOf<MintedLicenseFragment[]>();
    expectTypeOf<LicenseFragment['status']>().toEqualTypeOf<
      'active' | 'banned' | 'expired' | 'suspended' | 'unused'
    >();
    expectTypeOf<LicenseFragment['expiresAt']>().toEqualTypeOf<string | null>();
  });
});

test('the variables of an operation are typed', () => {
  never(async (latchkey) => {
    await latchkey.request(MeDocument);
    await latchkey.request(MeDocument, {}, { signal: AbortSignal.abort() });
    await latchkey.request(ApplicationsDocument);
    // @ts-expect-error - the input is needed
    await latchkey.request(CreateLicensesDocument);
    // @ts-expect-error - an amount is a number
    await latchkey.request(CreateLicensesDocument, { input: { ...input, amount: '1' } });
    // @ts-expect-error - there is no such variable
    await latchkey.request(CreateLicensesDocument, { input, amount: 1 });
    // @ts-expect-error - text without types is no document
    await latchkey.request('{ me { id } }');
  });
});

test('pages are typed by the selection', () => {
  never(async (latchkey) => {
    const variables = { applicationId: 'a', first: 10 };
    const licenses = latchkey.paginate(LicensesDocument, variables, (data) => data.application.licenses);
    for await (const license of licenses) expectTypeOf(license).toEqualTypeOf<LicenseFragment>();
    for await (const page of licenses.pages()) expectTypeOf(page.totalCount).toEqualTypeOf<number>();
    // @ts-expect-error - not a connection
    latchkey.paginate(LicensesDocument, variables, (data) => data.application);
    // @ts-expect-error - the application is needed
    latchkey.paginate(LicensesDocument, { first: 10 }, (data) => data.application.licenses);
    // @ts-expect-error - not a list
    latchkey.paginate(CreateLicensesDocument, { input }, (data) => data.createLicenses);
  });
});

test('following yields the only field of the subscription', () => {
  interface Data {
    securityLog: { id: string; code: string | null } | null;
  }
  expectTypeOf<EntryOf<Data>>().toEqualTypeOf<{ id: string; code: string | null }>();
  never(async (latchkey) => {
    const document = {} as TypedDocumentNode<Data, { applicationId: string; after?: string | null }>;
    for await (const entry of latchkey.follow(document, { applicationId: 'a' })) {
      expectTypeOf(entry.code).toEqualTypeOf<string | null>();
    }
    // @ts-expect-error - the application is needed
    latchkey.follow(document, {});
    // @ts-expect-error - a document without $after cannot be resumed
    latchkey.follow(CreateLicensesDocument, { input });
  });
});

test('an error narrows to the given codes, and allows others', () => {
  never(async () => {
    const error: unknown = undefined;
    if (isManagementError(error, 'APP_NOT_FOUND', 'TIMEOUT')) {
      expectTypeOf(error.code).toEqualTypeOf<'APP_NOT_FOUND' | 'TIMEOUT'>();
    }
    // @ts-expect-error - a typing error, not a code
    isManagementError(error, 'APP_NOT_FOND');
    expectTypeOf<'CODE_OF_NEXT_YEAR'>().toExtend<ManagementError['code']>();
    new ManagementError('CODE_OF_NEXT_YEAR', '');
  });
});
