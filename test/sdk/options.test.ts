import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/sdk/index.ts';

const good = {
  baseUrl: 'https://license.example.com',
  appId: '01890a5d-ac96-774b-bcce-b302099a8057',
  publicKeyB64: Buffer.alloc(32, 9).toString('base64'),
  version: '1.0.0',
};

describe('createClient', () => {
  it('takes http and https, with and without a path', () => {
    for (const baseUrl of ['http://127.0.0.1:4000', 'https://a.example/', 'https://a.example/licenses/']) {
      expect(() => createClient({ ...good, baseUrl })).not.toThrow();
    }
  });

  it.each([
    [
      'baseUrl',
      [
        '',
        'license.example.com',
        'ftp://a.example',
        'https://u:p@a.example',
        'https://a.example?q',
        'https://a.example#f',
      ],
    ],
    ['appId', ['', 'x', good.appId.toUpperCase(), `{${good.appId}}`]],
    [
      'publicKeyB64',
      ['', 'x', good.publicKeyB64.slice(0, -1), Buffer.alloc(31).toString('base64'), undefined],
    ],
    ['version', ['', 'x'.repeat(65), 'a\0', undefined]],
    ['deviceName', ['', 'n'.repeat(65), 'a\0', 7, null]],
    ['platform', ['', 'p'.repeat(33), null]],
    ['leases', ['yes', 1, null]],
    ['timeoutMs', [0, -1, Number.NaN, 2 ** 31, '5']],
  ] as const)('throws a TypeError that names %s where it is wrong', (name, values) => {
    for (const value of values) {
      const make = () => Reflect.apply(createClient, undefined, [{ ...good, [name]: value }]);
      expect(make, String(value)).toThrow(TypeError);
      expect(make, String(value)).toThrow(name);
    }
  });
});
