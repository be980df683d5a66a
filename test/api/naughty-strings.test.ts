/** @module-tag slow */
import { describe, expect, test, vi } from 'vitest';
import { ApiClient } from '../setup/api-client.ts';
import { useWorld } from '../setup/use-world.ts';
import {
  apiKeyAnswer,
  applicationAnswer,
  createdApplication,
  developerAnswer,
  expectFailure,
  expectIssue,
  expectSuccess,
  forEachOf,
  licensesAnswer,
  mintedAnswer,
  naughtyStrings,
  noLimits,
} from './support.ts';

const strings = naughtyStrings();
// Each test sends several hundred requests, and each registration hashes a password.
vi.setConfig({ testTimeout: 180_000 });

const { server, world } = useWorld({ env: noLimits });

/** The length in UTF-16 code units. */
const within = ({ length }: string, least: number, most: number) => length >= least && length <= most;
const name = (text: string) => within(text, 1, 100) && text.trim() !== '';

/** Each string is either refused with the name of the field, or returned unchanged. */
describe.skipIf(strings === null)('each naughty string', () => {
  const naughty = strings ?? [];
  const atOnce = 8;

  test('as a developer’s name', async () => {
    await forEachOf(naughty, atOnce, async (text, index) => {
      const body = { email: `naughty${index}@example.com`, password: 'correct horse', name: text };
      const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/register', body);
      if (!name(text)) return expectIssue(answer, 'name');
      expect(expectSuccess(answer, 201, developerAnswer).developer.name).toBe(text);
    });
  });

  test('as an email address and a password at login is wrong, or refused if it is empty', async () => {
    await forEachOf(naughty, atOnce, async (text) => {
      const client = new ApiClient(server.baseUrl);
      const answer = await client.post('/api/v1/auth/login', { email: text, password: text });
      if (text === '') return expectIssue(answer, 'password');
      if (!within(text, 1, 254)) return expectIssue(answer, 'email');
      expectFailure(answer, 401, 'INVALID_CREDENTIALS');
    });
  });

  test('as an email address to register', async () => {
    await forEachOf(naughty, atOnce, async (text) => {
      const body = { email: text, password: 'short', name: 'Ada' };
      expectIssue(await new ApiClient(server.baseUrl).post('/api/v1/auth/register', body), 'password');
    });
  });

  test('as an application’s name and version', async () => {
    await forEachOf(naughty, atOnce, async (text) => {
      const body = { name: text, version: text };
      const answer = await world.client.post('/api/v1/apps/create', body);
      if (!name(text)) return expectIssue(answer, 'name');
      if (!within(text, 1, 64)) return expectIssue(answer, 'version');
      const { application, sdkHint } = expectSuccess(answer, 201, createdApplication);
      expect(application).toMatchObject(body);
      expect(sdkHint.version).toBe(text);
    });
  });

  test('as a version and a message of the settings', async () => {
    const { id } = await world.createApplication();
    const path = `/api/v1/apps/${id}/settings`;
    for (const text of naughty) {
      const settings = {
        ...(within(text, 1, 64) && { version: text }),
        responseMessages: { OK: text, BANNED: text },
      };
      const answer = await world.client.patch(path, settings);
      if (!within(text, 1, 500)) {
        expectIssue(answer, 'responseMessages');
        continue;
      }
      const { application } = expectSuccess(answer, 200, applicationAnswer);
      expect(application.responseMessages).toMatchObject(settings.responseMessages);
      if ('version' in settings) expect(application.version).toBe(text);
    }
  });

  test('as the key of a message', async () => {
    const { id } = await world.createApplication();
    await forEachOf(naughty, atOnce, async (text) => {
      const answer = await world.client.patch(`/api/v1/apps/${id}/settings`, {
        responseMessages: { [text]: 'x' },
      });
      expectIssue(answer, 'responseMessages');
    });
  });

  test('as a license’s note, which a search for it finds', async () => {
    const { id } = await world.createApplication();
    await forEachOf(naughty, atOnce, async (text) => {
      const body = { applicationId: id, amount: 1, durationSeconds: 0, note: text };
      const answer = await world.client.post('/api/v1/licenses/create', body);
      if (!within(text, 1, 1000)) return expectIssue(answer, 'note');
      const key = expectSuccess(answer, 201, mintedAnswer).keys[0];
      const query = new URLSearchParams({ q: text, limit: '200' }).toString();
      const page = await world.client.get(`/api/v1/apps/${id}/licenses?${query}`);
      if (!within(text, 0, 200)) return expectIssue(page, 'q');
      const { licenses, nextCursor } = expectSuccess(page, 200, licensesAnswer);
      const found = licenses.find((license) => license.id === key?.id);
      expect(found?.note ?? (nextCursor === null ? 'not found' : text)).toBe(text);
    });
  });

  test('as a mask', async () => {
    const { id } = await world.createApplication();
    await forEachOf(naughty, atOnce, async (text) => {
      const mask = `${text}XXXXXXXXXXXXX`;
      const body = { applicationId: id, amount: 1, durationSeconds: 0, mask };
      const answer = await world.client.post('/api/v1/licenses/create', body);
      if (!/^[!-~]{1,128}$/.test(mask)) return expectIssue(answer, 'mask');
      const key = expectSuccess(answer, 201, mintedAnswer).keys[0]?.licenseKey ?? '';
      expect(key).toHaveLength(mask.length);
      expect([...mask].every((letter, index) => letter === 'X' || key[index] === letter)).toBe(true);
    });
  });

  test('as an API key’s name', async () => {
    await forEachOf(naughty, atOnce, async (text) => {
      const answer = await world.client.post('/api/v1/account/api-keys', { name: text });
      if (!name(text)) return expectIssue(answer, 'name');
      expect(expectSuccess(answer, 201, apiKeyAnswer).key.name).toBe(text);
    });
  });

  test('as a scope and an address of a ban, a status, a cursor and an application id', async () => {
    const application = await world.createApplication();
    const { id } = await application.mintOne();
    await forEachOf(naughty, atOnce, async (text) => {
      const ban = (body: unknown) => world.client.post(`/api/v1/licenses/${id}/ban`, body);
      expectIssue(await ban({ scope: text }), 'scope');
      expectIssue(await ban({ scope: 'license', ip: `${text}!` }), 'ip');
      const settings = { status: `${text}!` };
      expectIssue(await world.client.patch(`/api/v1/apps/${application.id}/settings`, settings), 'status');
      const query = new URLSearchParams({ cursor: text }).toString();
      expectIssue(await world.client.get(`/api/v1/apps/${application.id}/licenses?${query}`), 'cursor');
      const body = { applicationId: text, amount: 1, durationSeconds: 0 };
      expectIssue(await world.client.post('/api/v1/licenses/create', body), 'applicationId');
    });
  });

  test('causes no unexpected error', () => {
    expect(server.logLines.filter((line) => line.includes('request failed unexpectedly'))).toEqual([]);
  });
});
