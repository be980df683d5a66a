import { bytesToHex } from '@noble/hashes/utils.js';
import { deriveSessionKey } from '../../protocol/key-schedule.ts';
import { fixedBytes } from './material.ts';

const zeros = new Uint8Array(32);

/** SPEC §4. */
export function keyScheduleVectors() {
  const inputs = [
    {
      why: 'ordinary',
      clientNonce: fixedBytes('client nonce', 32),
      serverNonce: fixedBytes('server nonce', 32),
      salt: fixedBytes('salt', 32),
      appId: '01890a5d-ac96-774b-bcce-b302099a8057',
    },
    {
      why: 'nonces exchanged: another key',
      clientNonce: fixedBytes('server nonce', 32),
      serverNonce: fixedBytes('client nonce', 32),
      salt: fixedBytes('salt', 32),
      appId: '01890a5d-ac96-774b-bcce-b302099a8057',
    },
    {
      why: 'another application: another key',
      clientNonce: fixedBytes('client nonce', 32),
      serverNonce: fixedBytes('server nonce', 32),
      salt: fixedBytes('salt', 32),
      appId: '01890a5d-ac96-774b-bcce-b302099a8058',
    },
    {
      why: 'all zero',
      clientNonce: zeros,
      serverNonce: zeros,
      salt: zeros,
      appId: '00000000-0000-0000-0000-000000000000',
    },
  ];
  return inputs.map(({ why, ...input }) => ({
    why,
    clientNonceHex: bytesToHex(input.clientNonce),
    serverNonceHex: bytesToHex(input.serverNonce),
    saltHex: bytesToHex(input.salt),
    appId: input.appId,
    keyHex: bytesToHex(deriveSessionKey(input)),
  }));
}
