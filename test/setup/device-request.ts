import { randomBytes } from 'node:crypto';
import { deviceHash } from '../../src/protocol/v2/device-hash.ts';
import { deviceRequestText } from '../../src/protocol/v2/device-request.ts';

/** The text that a device without a network shows. */
export const deviceRequestOf = (appId: string, hwid: string): string =>
  deviceRequestText({
    appId,
    device: deviceHash(appId, hwid),
    nonce: randomBytes(16).toString('base64url'),
  });
