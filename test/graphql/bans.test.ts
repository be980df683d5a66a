import { describe, expect, test } from 'vitest';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { forFile, forTest, useServer } from '../setup/use-world.ts';
import {
  BanLicenseDocument,
  BansDocument,
  BansOfLicenseDocument,
  DeleteBanDocument,
  DeleteLicenseDocument,
} from './generated/graphql.ts';
import { createGraphqlWorld, expectRefused, nobodysId, noLimits, payloadOf } from './support.ts';

const server = useServer({ env: noLimits });
const world = forFile(() => createGraphqlWorld(server));
const application = forTest(() => world.createApplication());

/** A license that was banned together with its device and an address. */
async function banned() {
  const license = await application.mintOne();
  const session = await openSession(server, application);
  await session.ask(validatePath, { licenseKey: license.licenseKey, hwid: `device of ${license.id}` });
  const input = { id: license.id, scope: 'hwid_and_ip', ip: '203.0.113.9' } as const;
  payloadOf(await world.graphql.request(BanLicenseDocument, { input }), 'banLicense');
  return license;
}
const bans = async () => {
  const answer = await world.graphql.request(BansDocument, { applicationId: application.id });
  return payloadOf(answer, 'application').bans.edges.map(({ node }) => node);
};
const remove = (banId: string, applicationId = application.id) =>
  world.graphql.request(DeleteBanDocument, { input: { applicationId, banId } });

describe('bans', () => {
  test('link to their application and license, and the license to them', async () => {
    const { id } = await banned();
    const listed = await bans();
    expect(new Set(listed.map(({ banType, value }) => `${banType} ${value}`))).toEqual(
      new Set([`hwid device of ${id}`, 'ip 203.0.113.9']),
    );
    for (const ban of listed) {
      expect(ban).toMatchObject({
        application: { id: application.id },
        sourceLicense: { id, status: 'banned' },
        createdAt: expect.any(String),
      });
    }
    const answer = await world.graphql.request(BansOfLicenseDocument, { id });
    const ofLicense = payloadOf(answer, 'license').bans;
    expect(ofLicense).toMatchObject({ totalCount: 2 });
    expect(ofLicense.edges.map(({ node }) => node)).toEqual(listed);
  });

  test('equal the REST list', async () => {
    const { id } = await banned();
    const rest = await world.client.get(`/api/v1/apps/${application.id}/bans`);
    const listed = (await bans()).map(({ application: _, sourceLicense, ...ban }) => ({
      ...ban,
      sourceLicenseId: sourceLicense?.id,
    }));
    expect(rest.body).toEqual({ success: true, bans: listed, nextCursor: null });
    expect(listed[0]?.sourceLicenseId).toBe(id);
  });

  test('remain without a license if it is deleted', async () => {
    const { id } = await banned();
    await world.graphql.request(DeleteLicenseDocument, { input: { id } });
    expect((await bans()).map(({ sourceLicense }) => sourceLicense)).toEqual([null, null]);
  });
});

describe('deleteBan', () => {
  test('returns the id and the remaining bans, and admits clients again', async () => {
    await banned();
    const [one, two] = await bans();
    const device = [one, two].find((ban) => ban?.banType === 'hwid');
    const address = [one, two].find((ban) => ban?.banType === 'ip');
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    const validate = () => session.ask(validatePath, { licenseKey, hwid: device?.value });
    expect(await validate()).toMatchObject({ code: 'HWID_BANNED' });
    expect(payloadOf(await remove(device?.id ?? ''), 'deleteBan')).toEqual({
      deletedBanId: device?.id,
      application: {
        id: application.id,
        bans: { totalCount: 1, edges: [{ node: { id: address?.id } }] },
      },
    });
    expect(await validate()).toMatchObject({ code: 'OK' });
    expect((await bans())[0]?.sourceLicense?.status).toBe('banned');
    expectRefused(await remove(device?.id ?? ''), 'BAN_NOT_FOUND');
  });

  test('reports which of the two is missing', async () => {
    await banned();
    const [ban] = await bans();
    expectRefused(await remove(nobodysId), 'BAN_NOT_FOUND');
    expectRefused(await remove('no-uuid'), 'BAN_NOT_FOUND');
    expectRefused(await remove(ban?.id ?? '', nobodysId), 'APP_NOT_FOUND');
    expectRefused(await remove(ban?.id ?? '', (await world.createApplication()).id), 'BAN_NOT_FOUND');
    expect(await bans()).toHaveLength(2);
  });
});
