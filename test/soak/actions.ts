import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Client } from '../../src/sdk/index.ts';
import type { Counts } from './counts.ts';
import { type Model, type ModelLicense, verdictOf } from './model.ts';
import type { SoakVendor } from './vendor.ts';

export interface ActionContext {
  readonly applicationId: string;
  readonly program: Client;
  readonly vendor: SoakVendor;
  readonly counts: Counts;
  readonly model: Model;
}

/** Something that customers or vendors do, and how often. */
export interface Action {
  readonly weight: number;
  readonly act: () => Promise<void>;
}

const minted = z.object({ keys: z.array(z.object({ id: z.string(), licenseKey: z.string() })) });
const shownKey = z.object({ key: z.object({ id: z.string(), apiKey: z.string() }) });

type Outcome = {
  readonly kind: string;
  readonly code?: string;
  readonly reason?: string;
  readonly message: string;
};
const said = ({ kind, code, reason, message }: Outcome): string =>
  kind === 'verdict' && code !== undefined ? code : `failure ${reason}: ${message}`;

const screen = `query ($id: ID!) { application(id: $id) {
  licenses(first: 20) { totalCount edges { node { keyPrefix status users(first: 2) { edges { node { username } } } } } }
  securityLog(first: 10) { edges { node { event code } } } } }`;

/** All that goes on. Each takes what it needs into its hand, so that what it is answered is known beforehand. */
export function createActions({ applicationId, program, vendor, counts, model }: ActionContext): Action[] {
  const anything = () => true;
  const isActive = ({ state }: ModelLicense) => state === 'active';
  const isUnused = ({ state, user }: ModelLicense) => state === 'unused' && user === null;
  const device = (license: ModelLicense) => license.hwid ?? `device ${license.id}`;

  const holding =
    (wanted: (license: ModelLicense) => boolean, act: (license: ModelLicense) => Promise<void>) =>
    async () => {
      const license = model.take(wanted);
      if (license === null) return mint();
      try {
        await act(license);
      } finally {
        model.giveBack(license);
      }
    };
  const validate = async (license: ModelLicense, hwid: string) => {
    const expected = verdictOf(license, hwid);
    counts.expect('validate', said(await program.validate(license.licenseKey, { hwid })), expected);
    if (expected !== 'OK') return;
    license.hwid ??= hwid;
    license.state = 'active';
  };
  const change = async (license: ModelLicense, path: string, input?: object) =>
    counts.expect(
      path,
      (await vendor.send('POST', `/api/v1/licenses/${license.id}/${path}`, input)).code,
      'OK',
    );

  async function mint(): Promise<void> {
    const tier = Math.floor(Math.random() * 3);
    const input = { applicationId, amount: 5, durationSeconds: 86_400, subscriptionTier: tier };
    const answer = await vendor.send('POST', '/api/v1/licenses/create', input);
    counts.expect('mint', answer.code, 'OK');
    for (const key of minted.parse(answer.body).keys)
      model.giveBack({ ...key, tier, hwid: null, state: 'unused', user: null });
  }

  const register = holding(isUnused, async (license) => {
    const user = { username: randomUUID(), password: 'correct horse battery' };
    const { licenseKey } = license;
    const outcome = await program.register({ ...user, licenseKey, hwid: device(license) });
    counts.expect('register', said(outcome), 'OK');
    Object.assign(license, { user, hwid: device(license), state: 'active' });
    const again = await program.register({ ...user, licenseKey, hwid: device(license) });
    counts.expect('register again', said(again), 'USERNAME_TAKEN');
  });
  const logIn = holding(
    ({ user, state }) => user !== null && state === 'active',
    async (license) => {
      const { username = '', password = '' } = license.user ?? {};
      const hwid = device(license);
      counts.expect('log in', said(await program.login({ username, password, hwid })), 'OK');
      const wrong = { username, password: 'a wrong password', hwid };
      counts.expect('log in wrongly', said(await program.login(wrong)), 'INVALID_CREDENTIALS');
    },
  );
  const upgrade = holding(isUnused, async (next) => {
    const current = model.take(({ user, state }) => user !== null && state === 'active');
    if (current === null) return;
    try {
      const isHigher = next.tier > current.tier;
      const { username = '' } = current.user ?? {};
      const hwid = device(current);
      const outcome = await program.upgrade({ username, licenseKey: next.licenseKey, hwid });
      counts.expect('upgrade', said(outcome), isHigher ? 'OK' : 'TIER_NOT_HIGHER');
      if (!isHigher) return;
      Object.assign(next, { user: current.user, hwid, state: 'active' });
      current.user = null;
    } finally {
      model.giveBack(current);
    }
  });
  const tidy = holding(
    ({ state, user }) => state !== 'deleted' && user === null,
    async (license) => {
      const { code } = await vendor.send('DELETE', `/api/v1/licenses/${license.id}`);
      counts.expect('delete', code, 'OK');
      license.state = 'deleted';
      await validate(license, device(license));
    },
  );
  const ban = holding(
    ({ state, user }) => state === 'active' && user === null,
    async (license) => {
      await change(license, 'ban', { scope: 'license' });
      license.state = 'banned';
      await validate(license, device(license));
    },
  );
  const reset = holding(
    ({ state, hwid }) => state === 'active' && hwid !== null,
    async (license) => {
      await change(license, 'reset-hwid');
      license.hwid = null;
      await validate(license, `next device ${license.id}`);
    },
  );
  async function useApiKey(): Promise<void> {
    const made = await vendor.send('POST', '/api/v1/account/api-keys', { name: 'soak' });
    counts.expect('API key', made.code, 'OK');
    const { id, apiKey } = shownKey.parse(made.body).key;
    const me = async () => (await vendor.send('GET', '/api/v1/auth/me', undefined, apiKey)).code;
    counts.expect('with an API key', await me(), 'OK');
    counts.expect('revoke', (await vendor.send('POST', `/api/v1/account/api-keys/${id}/revoke`)).code, 'OK');
    counts.expect('with a revoked API key', await me(), 'UNAUTHENTICATED');
  }
  const read = (path: string) => async () =>
    counts.expect('read', (await vendor.send('GET', path)).code, 'OK');

  return [
    { weight: 40, act: holding(anything, (license) => validate(license, device(license))) },
    { weight: 8, act: holding(isActive, (license) => validate(license, 'a stolen device')) },
    {
      weight: 8,
      act: async () =>
        counts.expect('an unknown key', said(await program.validate(randomUUID())), 'LICENSE_NOT_FOUND'),
    },
    { weight: 3, act: register },
    { weight: 3, act: logIn },
    { weight: 2, act: upgrade },
    { weight: 2, act: () => (model.isFull ? tidy() : mint()) },
    { weight: 1, act: tidy },
    { weight: 2, act: ban },
    { weight: 2, act: reset },
    { weight: 1, act: useApiKey },
    {
      weight: 1,
      act: async () => {
        const input = { responseMessages: { OK: `Welcome ${Date.now()}` } };
        const { code } = await vendor.send('PATCH', `/api/v1/apps/${applicationId}/settings`, input);
        counts.expect('settings', code, 'OK');
      },
    },
    { weight: 3, act: read(`/api/v1/apps/${applicationId}/licenses?limit=20`) },
    { weight: 1, act: read(`/api/v1/apps/${applicationId}/logs?limit=50`) },
    { weight: 1, act: read(`/api/v1/metrics/overview`) },
    { weight: 1, act: read(`/api/v1/apps/${applicationId}/bans`) },
    {
      weight: 3,
      act: async () =>
        counts.expect('GraphQL', (await vendor.graphql(screen, { id: applicationId })).code, 'OK'),
    },
    {
      weight: 1,
      act: async () => {
        const { code } = await vendor.graphql('query ($id: ID!) { application(id: $id) { name } }', {
          id: randomUUID(),
        });
        counts.expect('GraphQL, of nothing', code, 'APP_NOT_FOUND');
      },
    },
  ];
}
