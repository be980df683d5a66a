import { systemClock } from '../../src/lib/clock.ts';
import { ApiClient } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import type { Journal } from './journal.ts';
import { deviceOf, password, type Stage } from './work.ts';

/** How much of the journal has been verified before. */
interface Seen {
  batches: number;
  bound: number;
  users: number;
  apiKeys: number;
}

/**
 * Verifies, through the public interfaces, everything acknowledged since the last verification: as a
 * customer, a developer and an attacker would.
 */
export function createVerifier({ journal, application, vendorKey }: Stage) {
  const seen: Seen = { batches: 0, bound: 0, users: 0, apiKeys: 0 };
  const lost = (what: string) => void journal.violations.push(`Lost or half done: ${what}`);

  return async (baseUrl: string): Promise<void> => {
    const session = await openSession({ baseUrl, clock: systemClock }, application);
    const codeOf = async (members: Record<string, unknown>) =>
      (await session.ask(validatePath, members)).code;
    const expectCode = async (
      what: string,
      members: Record<string, unknown>,
      expected: readonly string[],
    ) => {
      const code = String(await codeOf(members));
      if (!expected.includes(code)) lost(`${what} is ${code}`);
    };

    await each([...journal.batches.values()].slice(seen.batches), async (keys) => {
      const { licenseKey } = keys[keys.length - 1] ?? { licenseKey: '' };
      await expectCode('a minted key', { licenseKey }, ['OK']);
    });
    await each(journal.bound.slice(seen.bound), async (key) => {
      const { licenseKey } = key;
      const byLicense = await codeOf({ licenseKey });
      // One transaction bans the license and its device.
      const isBanned = byLicense === 'BANNED';
      if (!isBanned && byLicense !== 'OK') lost(`a bound license is ${byLicense}`);
      if (isBanned !== journal.banned.has(key.id) && !isDoubtful(journal, key.id))
        lost(`a ban that was ${isBanned ? 'not asked for' : 'acknowledged'}`);
      await expectCode('a device', { licenseKey, hwid: deviceOf(key) }, [isBanned ? 'HWID_BANNED' : 'OK']);
      await expectCode('another device', { licenseKey, hwid: 'another' }, [
        isBanned ? 'BANNED' : 'HWID_MISMATCH',
      ]);
    });
    await each(journal.users.slice(seen.users).slice(-4), async ({ username, hwid }) => {
      const { code } = await session.ask('/api/v1/client/login', { username, password, hwid });
      if (code !== 'OK') lost(`a registered user, who is ${code}`);
    });
    await each(journal.apiKeys.slice(seen.apiKeys), async ({ id, apiKey }) => {
      const { status } = await new ApiClient(baseUrl, { bearer: apiKey }).get('/api/v1/auth/me');
      if (journal.revoked.has(id) && status !== 401) lost(`a revocation: its key is answered ${status}`);
      if (!journal.revocationAsked.has(id) && status !== 200) lost(`an API key, which is answered ${status}`);
    });
    const vendor = new ApiClient(baseUrl, { bearer: vendorKey });
    const shown = JSON.stringify((await vendor.get(`/api/v1/apps/${application.id}`)).body);
    const turn = Number(/"EXPIRED":"turn (\d+)"/.exec(shown)?.[1] ?? 0);
    if (turn < journal.settingDone || turn > journal.settingAsked)
      lost(`a setting, which is ${turn} and was acknowledged as ${journal.settingDone}`);
    if (journal.acceptedEnvelope !== null) {
      const { status } = await session.client.post(validatePath, journal.acceptedEnvelope);
      if (status === 200) journal.violations.push('An envelope was accepted twice');
    }
    seen.batches = journal.batches.size;
    seen.bound = journal.bound.length;
    seen.users = journal.users.length;
    seen.apiKeys = journal.apiKeys.length;
  };
}

const isDoubtful = (journal: Journal, id: string) => journal.banAsked.has(id) && !journal.banned.has(id);

/** Splits a list into slices. */
async function each<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}
