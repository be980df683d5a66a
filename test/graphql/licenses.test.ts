import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { useServer } from '../setup/use-world.ts';
import {
  BanLicenseDocument,
  CreateLicensesDocument,
  LicenseDetailsDocument,
  LicensesDocument,
} from './generated/graphql.ts';
import {
  createGraphqlWorld,
  expectIssues,
  expectRefused,
  illFormedTexts,
  nobodysId,
  noLimits,
  payloadOf,
} from './support.ts';

const server = useServer({ env: noLimits });

type Wrong = [what: string, fields: Record<string, unknown>, path: string];

describe('createLicenses', () => {
  test('mints keys that are shown once and validate', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const application = await createApplication();
    const answer = await graphql.request(CreateLicensesDocument, {
      input: {
        applicationId: application.id,
        amount: 3,
        durationSeconds: 3600,
        subscriptionTier: 2,
        note: 'for Bob',
        mask: 'APP-XXXXXXXXXXXXXXXX',
      },
    });
    const { keys, warning, application: owner } = payloadOf(answer, 'createLicenses');
    expect(owner).toEqual({ id: application.id, name: 'Photo Lab' });
    expect(warning).toContain('shown only now');
    expect(keys).toHaveLength(3);
    for (const key of keys) {
      expect(key).toMatchObject({ durationSeconds: 3600, subscriptionTier: 2 });
      expect(key.licenseKey).toMatch(/^APP-[2-9A-HJ-NP-Z]{16}$/);
      expect(key.licenseKey.startsWith(key.keyPrefix)).toBe(true);
    }
    const list = await graphql.request(LicensesDocument, { applicationId: application.id });
    expect(payloadOf(list, 'application').licenses.edges.map(({ node }) => node)).toEqual(
      keys
        .toReversed()
        .map(({ id, keyPrefix }) =>
          expect.objectContaining({ id, keyPrefix, status: 'unused', note: 'for Bob', expiresAt: null }),
        ),
    );
    const session = await openSession(server, application);
    const result = await session.ask(validatePath, { licenseKey: keys[0]?.licenseKey });
    expect(result).toMatchObject({ success: true, code: 'OK', subscriptionTier: 2 });
  });

  test('takes null for optional fields as their absence', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id: applicationId } = await createApplication();
    const nulls = { subscriptionTier: null, note: null, mask: null };
    const answer = await graphql.request(CreateLicensesDocument, {
      input: { applicationId, amount: 1, durationSeconds: 0, ...nulls },
    });
    expect(payloadOf(answer, 'createLicenses').keys).toEqual([
      expect.objectContaining({
        subscriptionTier: 0,
        licenseKey: expect.stringMatching(/^(?:[2-9A-HJ-NP-Z]{5}-?){5}$/),
      }),
    ]);
  });

  test.each<Wrong>([
    ['an amount of 0', { amount: 0 }, 'amount'],
    ['an amount of 10,001', { amount: 10_001 }, 'amount'],
    ['a negative duration', { durationSeconds: -1 }, 'durationSeconds'],
    ['a negative tier', { subscriptionTier: -1 }, 'subscriptionTier'],
    ['an empty note', { note: '' }, 'note'],
    ['a note of 1001 characters', { note: 'a'.repeat(1001) }, 'note'],
    ['a mask that could be guessed', { mask: 'XXXXXXX' }, 'mask'],
    ['an application that is no UUID', { applicationId: 'photo-lab' }, 'applicationId'],
    ...illFormedTexts.map(([what, text]) => [`${what} in the note`, { note: text }, 'note'] satisfies Wrong),
  ])('refuses %s and says where', async (_what, fields, path) => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id: applicationId } = await createApplication();
    const input = { applicationId, amount: 1, durationSeconds: 0, ...fields };
    expectIssues(await graphql.request(CreateLicensesDocument, { input }), [[path]]);
    const list = await graphql.request(LicensesDocument, { applicationId });
    expect(payloadOf(list, 'application').licenses.totalCount).toBe(0);
  });

  test('answers APP_NOT_FOUND for an application that does not exist', async () => {
    const { graphql } = await createGraphqlWorld(server);
    const input = { applicationId: nobodysId, amount: 1, durationSeconds: 0 };
    expectRefused(await graphql.request(CreateLicensesDocument, { input }), 'APP_NOT_FOUND');
  });

  test('answers PRIVATE_MODE to an account that makes its keys in the browser', async () => {
    const { graphql, createApplication, developer } = await createGraphqlWorld(server);
    const { id: applicationId } = await createApplication();
    await server.deps.services.database.prisma.developer.update({
      where: { id: developer.id },
      data: { keyCreationMode: 'private' },
    });
    const input = { applicationId, amount: 1, durationSeconds: 0 };
    expectRefused(await graphql.request(CreateLicensesDocument, { input }), 'PRIVATE_MODE');
  });
});

describe('banLicense', () => {
  test('bans a license, and clients are refused from then on', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const application = await createApplication();
    const { id, licenseKey } = await application.mintOne();
    const answer = await graphql.request(BanLicenseDocument, { input: { id } });
    expect(payloadOf(answer, 'banLicense').license).toEqual({ id, status: 'banned' });
    const session = await openSession(server, application);
    expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ success: false, code: 'BANNED' });
  });

  test('with the device and an address bans those for other licenses too', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const application = await createApplication();
    const [one, other] = await application.mint({ amount: 2 });
    const session = await openSession(server, application);
    await session.ask(validatePath, { licenseKey: one?.licenseKey, hwid: 'device-1' });
    const input = { id: one?.id ?? '', scope: 'hwid_and_ip', ip: '203.0.113.9' } as const;
    payloadOf(await graphql.request(BanLicenseDocument, { input }), 'banLicense');
    expect(
      await session.ask(validatePath, { licenseKey: other?.licenseKey, hwid: 'device-1' }),
    ).toMatchObject({
      code: 'HWID_BANNED',
    });
    const bans = await server.deps.services.database.prisma.ban.findMany({
      where: { applicationId: application.id },
      select: { banType: true, value: true, sourceLicenseId: true },
      orderBy: { banType: 'asc' },
    });
    expect(bans).toEqual([
      { banType: 'hwid', value: 'device-1', sourceLicenseId: one?.id },
      { banType: 'ip', value: '203.0.113.9', sourceLicenseId: one?.id },
    ]);
  });

  test('answers what the license lacks for the scope, and leaves it as it is', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const application = await createApplication();
    const { id } = await application.mintOne();
    const hwid = await graphql.request(BanLicenseDocument, { input: { id, scope: 'hwid' } });
    expectRefused(hwid, 'HWID_NOT_SET');
    const ip = await graphql.request(BanLicenseDocument, { input: { id, scope: 'hwid_and_ip' } });
    expectRefused(ip, 'IP_NOT_KNOWN');
    const list = await graphql.request(LicensesDocument, { applicationId: application.id });
    expect(payloadOf(list, 'application').licenses.edges[0]?.node.status).toBe('unused');
  });

  test('takes null for optional fields as their absence', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id } = await (await createApplication()).mintOne();
    const answer = await graphql.request(BanLicenseDocument, { input: { id, scope: null, ip: null } });
    expect(payloadOf(answer, 'banLicense').license.status).toBe('banned');
  });

  test('refuses an address that is none and says where', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id } = await (await createApplication()).mintOne();
    for (const ip of ['somewhere', '1.2.3', '\0', '', '::1%eth0 ', 'a'.repeat(65)]) {
      const answer = await graphql.request(BanLicenseDocument, { input: { id, scope: 'hwid_and_ip', ip } });
      expect(answer.codes, ip).toEqual(['VALIDATION_FAILED']);
    }
  });

  test.each([nobodysId, 'no-uuid', '', '\0', '\ud800', 'a'.repeat(10_000)])(
    'answers LICENSE_NOT_FOUND for %j',
    async (id) => {
      const { graphql } = await createGraphqlWorld(server);
      expectRefused(await graphql.request(BanLicenseDocument, { input: { id } }), 'LICENSE_NOT_FOUND');
    },
  );
});

describe('a license', () => {
  test('shows what its first use made of it, and expired past its end', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const application = await createApplication();
    const { id, licenseKey } = await application.mintOne({ durationSeconds: 60 });
    const session = await openSession(server, application);
    await session.ask(validatePath, { licenseKey, hwid: 'device-1' });
    await server.deps.services.securityLog.flush();
    const read = async () => {
      const answer = await graphql.request(LicenseDetailsDocument, { applicationId: application.id });
      return payloadOf(answer, 'application').licenses.edges[0]?.node;
    };
    const license = await read();
    expect(license).toEqual({
      id,
      keyPrefix: licenseKey.slice(0, 6),
      status: 'active',
      subscriptionTier: 0,
      durationSeconds: 60,
      activatedAt: expect.any(String),
      expiresAt: expect.any(String),
      hwid: 'device-1',
      lastIp: session.client.ip,
      note: null,
      noteCiphertextB64: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      application: { id: application.id, name: 'Photo Lab' },
    });
    const { activatedAt, expiresAt } = license ?? {};
    expect(Date.parse(expiresAt ?? '') - Date.parse(activatedAt ?? '')).toBe(60_000);
    server.clock.step(61);
    try {
      expect(await read()).toEqual({ ...license, status: 'expired' });
    } finally {
      server.clock.step(-61);
    }
  });

  test('never shows its key or the hash of it again', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const application = await createApplication();
    const { licenseKey } = await application.mintOne();
    const answer = await graphql.request(LicenseDetailsDocument, { applicationId: application.id });
    const text = JSON.stringify(answer.answer.body);
    expect(text).not.toContain(licenseKey);
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      expect(text).not.toContain(createHash('sha256').update(licenseKey).digest(encoding));
    }
  });
});
