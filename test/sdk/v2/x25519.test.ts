import { expect, test } from 'vitest';
import { agree } from '../../../src/sdk/v2/x25519.ts';
import { agreeByScript } from '../../../src/sdk/v2/x25519-script.ts';

/** Public keys with which every shared point is zero. */
const smallOrder = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000080',
].map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));

test('a key of small order gives no agreement, by the platform and in JavaScript', async () => {
  for (const key of smallOrder) {
    expect(await agree(key)).toBeNull();
    expect(agreeByScript(key)).toBeNull();
  }
});
