import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { forFile, forTest, useServer } from '../setup/use-world.ts';
import {
  CreateApiKeyDocument,
  CreateBlindLicensesDocument,
  CreateLicensesDocument,
  SetLicenseTierDocument,
} from './generated/graphql.ts';
import { createGraphqlWorld, noLimits, visitor, whoAmI } from './support.ts';

const server = useServer({ env: noLimits });
const world = forFile(() => createGraphqlWorld(server));
const application = forTest(() => world.createApplication());
afterEach(() => vi.restoreAllMocks());

/** From the moment that a change is committed, relations cannot be read: the database is away. */
function loseDatabaseAfterChange(): void {
  const { pool, prisma } = server.deps.services.database;
  const original = prisma.$transaction;
  vi.spyOn(prisma, '$transaction').mockImplementation(async (...args: unknown[]) => {
    const result: unknown = await Reflect.apply(original, prisma, args);
    vi.spyOn(pool, 'query').mockImplementation(() => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    });
    return result;
  });
}

const validate = async (licenseKey: string) =>
  (await openSession(server, application)).ask(validatePath, { licenseKey });

describe('when what a mutation leads to cannot be read', () => {
  test('createLicenses still shows the keys, which are good', async () => {
    const input = { applicationId: application.id, amount: 2, durationSeconds: 0 };
    loseDatabaseAfterChange();
    const answer = await world.graphql.request(CreateLicensesDocument, { input });
    vi.restoreAllMocks();
    expect(answer.errors).toMatchObject([
      { path: ['createLicenses', 'application'], extensions: { code: 'UNAVAILABLE' } },
    ]);
    const payload = answer.data?.createLicenses;
    expect(payload).toMatchObject({ application: null, warning: expect.any(String) });
    expect(payload?.keys).toHaveLength(2);
    for (const { licenseKey } of payload?.keys ?? []) {
      expect(await validate(licenseKey)).toMatchObject({ code: 'OK' });
    }
  });

  test('createBlindLicenses still says what was stored', async () => {
    const key = {
      licenseKeyHash: createHash('sha256').update(application.id).digest('hex'),
      licenseKeyPrefix: 'KEY',
      durationSeconds: 0,
    };
    loseDatabaseAfterChange();
    const answer = await world.graphql.request(CreateBlindLicensesDocument, {
      input: { applicationId: application.id, keys: [key] },
    });
    vi.restoreAllMocks();
    expect(answer.errors).toMatchObject([{ path: ['createBlindLicenses', 'application'] }]);
    expect(answer.codes).toEqual(['UNAVAILABLE']);
    expect(answer.data?.createBlindLicenses).toMatchObject({
      application: null,
      keys: [{ keyPrefix: 'KEY' }],
    });
    expect(await validate(application.id)).toMatchObject({ code: 'OK' });
  });

  test('createApiKey shows the key as if nothing had been', async () => {
    loseDatabaseAfterChange();
    const answer = await world.graphql.request(CreateApiKeyDocument, { input: { name: 'ci' } });
    vi.restoreAllMocks();
    expect(answer.errors).toEqual([]);
    const apiKey = answer.data?.createApiKey?.apiKey ?? '';
    expect(await whoAmI(visitor(server).with({ bearer: apiKey }))).toBe(world.developer.id);
  });

  test('a mutation that shows nothing once is null with an error, and its neighbours are not', async () => {
    const { id } = await application.mintOne();
    loseDatabaseAfterChange();
    const changed = await world.graphql.request(SetLicenseTierDocument, {
      input: { id, subscriptionTier: 3 },
    });
    vi.restoreAllMocks();
    expect(changed.data).toEqual({ setLicenseTier: null });
    expect(changed.codes).toEqual(['UNAVAILABLE']);
    expect(changed.errors[0]?.path?.[0]).toBe('setLicenseTier');
    const both = await world.graphql.ask(
      `mutation ($id: ID!) {
        createApiKey(input: { name: "ci" }) { apiKey }
        setLicenseTier(input: { id: $id, subscriptionTier: 4 }) { license { id application { name } } }
        refused: setLicenseTier(input: { id: "no-uuid", subscriptionTier: 4 }) { license { id } }
      }`,
      { id },
    );
    expect(both.codes).toEqual(['LICENSE_NOT_FOUND']);
    expect(both.data).toEqual({
      createApiKey: { apiKey: expect.stringMatching(/^service_live_/) },
      setLicenseTier: { license: { id, application: { name: 'Photo Lab' } } },
      refused: null,
    });
  });
});

describe('when an application is deleted while its keys are minted', () => {
  test('the keys are answered all the same, and the application is not there', async () => {
    const { prisma } = server.deps.services.database;
    const original = prisma.$transaction;
    vi.spyOn(prisma, '$transaction').mockImplementationOnce(async (...args: unknown[]) => {
      const result: unknown = await Reflect.apply(original, prisma, args);
      vi.restoreAllMocks();
      // Not over the API: there the deletion waits until the mint's turn is over.
      await prisma.application.delete({ where: { id: application.id } });
      return result;
    });
    const answer = await world.graphql.request(CreateLicensesDocument, {
      input: { applicationId: application.id, amount: 1, durationSeconds: 0 },
    });
    expect(answer.codes).toEqual(['APP_NOT_FOUND']);
    expect(answer.data?.createLicenses).toMatchObject({
      application: null,
      keys: [{ licenseKey: expect.any(String) }],
    });
  });
});

describe('a query of which one part fails', () => {
  test('keeps the parts that may be null beside it', async () => {
    const answer = await world.graphql.ask(
      `query ($id: ID!) {
        application(id: $id) { name }
        wrong: application(id: $id) { licenses(first: 0) { totalCount } }
        missing: license(id: "no-uuid") { id }
        me { name }
      }`,
      { id: application.id },
    );
    expect(answer.data).toEqual({
      application: { name: 'Photo Lab' },
      wrong: null,
      missing: null,
      me: { name: 'Ada' },
    });
    const codes = Object.fromEntries(
      answer.errors.map(({ path, extensions }) => [path?.[0], extensions.code]),
    );
    expect(codes).toEqual({ missing: 'LICENSE_NOT_FOUND', wrong: 'VALIDATION_FAILED' });
  });
});
