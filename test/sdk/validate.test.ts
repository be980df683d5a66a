import { describe, expect } from 'vitest';
import { decodeBase64 } from '../../src/protocol/base64.ts';
import { innerValidateRequest, verdictCodes } from '../../src/protocol/messages.ts';
import { createClient } from '../../src/sdk/index.ts';
import { test } from './fixture.ts';

const key = 'QW7RT-9XKLM-2VBNP-HJ4DF-6SGC8';

describe('a verdict', () => {
  test('that is signed and OK is valid, with the details of the license', async ({ server }) => {
    const client = createClient(server.options);
    expect(await client.validate(key, { hwid: 'device-1' })).toEqual({
      kind: 'verdict',
      source: 'service',
      valid: true,
      code: 'OK',
      message: 'License is valid.',
      status: 'active',
      expiresAt: new Date('2030-01-01T00:00:00.000Z'),
      subscriptionTier: 3,
      graceEndsAt: null,
      entitlements: {},
      metadata: {},
    });
  });

  test('on a license that never expires has no date', async ({ server }) => {
    server.onValidate = ({ sealed, inner }) => sealed({ ...inner, expiresAt: null });
    expect(await createClient(server.options).validate(key)).toMatchObject({ valid: true, expiresAt: null });
  });

  test.for(verdictCodes.filter((code) => code !== 'OK'))(
    'that is signed and %s is invalid, with code and message',
    async (code, { server }) => {
      server.onValidate = ({ sealed, inner }) =>
        sealed({ ...inner, success: false, code, message: 'Nö', status: null, expiresAt: null });
      expect(await createClient(server.options).validate(key)).toEqual({
        kind: 'verdict',
        source: 'service',
        valid: false,
        code,
        message: 'Nö',
      });
    },
  );

  test('is returned for keys that the service finds malformed too', async ({ server }) => {
    const client = createClient(server.options);
    for (const malformed of ['', 'x'.repeat(257), 'a\0b', 'a\ud800']) {
      expect(await client.validate(malformed)).toMatchObject({
        kind: 'verdict',
        source: 'service',
        valid: false,
        code: 'VALIDATION_FAILED',
      });
    }
  });
});

describe('a request', () => {
  test('has the key, the device, the time, the echo, and a new nonce and IV', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate(key, { hwid: 'device-1' });
    await client.validate(key);
    const [first, second] = server.seen
      .filter(({ inner }) => inner !== undefined)
      .map(({ body, inner }) => ({ body, inner: innerValidateRequest.parse(inner) }));
    expect(first?.inner).toEqual({
      licenseKey: key,
      hwid: 'device-1',
      nonce: first?.inner.nonce,
      timestamp: Math.floor(server.clock / 1000),
      v: 1,
      echoNonce: true,
      echoRequest: true,
      call: 'validate',
    });
    expect(decodeBase64(first?.inner.nonce ?? '')).toHaveLength(16);
    expect(second?.inner).not.toHaveProperty('hwid');
    expect(second?.inner.nonce).not.toBe(first?.inner.nonce);
    expect(second?.body).not.toHaveProperty('ivB64', Object(first?.body).ivB64);
  });

  test('uses the path of the base URL, with or without a trailing slash', async ({ server }) => {
    const urls: string[] = [];
    const fetch: typeof globalThis.fetch = async (url, init) => {
      urls.push(String(url));
      return globalThis.fetch(String(url).replace('/below', ''), init);
    };
    const baseUrl = `${server.options.baseUrl}/below/`;
    const outcome = await createClient({ ...server.options, baseUrl, fetch }).validate(key);
    expect(outcome).toMatchObject({ valid: true });
    expect(urls).toEqual([
      `${server.options.baseUrl}/below/api/v1/session/init`,
      `${server.options.baseUrl}/below/api/v1/licenses/validate`,
    ]);
  });
});
