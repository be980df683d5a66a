import { encodeBase64 } from '../../protocol/base64.ts';
import type { JsonObject } from '../../protocol/canonical-json.ts';
import { appId, now, sessionId } from './exchange.ts';
import { fixedBytes } from './material.ts';

export type ClientAuthVerb = 'register' | 'login' | 'upgrade';

const members = {
  register: {
    username: 'ada.lovelace-1',
    password: 'correct horse battery',
    email: 'ada@example.com',
    licenseKey: 'QW7RT-9XKLM-2VBNP-HJ4DF-6SGC8',
    hwid: 'device-1',
  },
  login: { username: 'ada.lovelace-1', password: 'correct horse battery', hwid: 'device-1' },
  upgrade: { username: 'ada.lovelace-1', licenseKey: 'M4TRE-8ZQWX-5HJKN-C9VBD-3PLGF', hwid: 'device-1' },
} as const;

/** Members of every inner request of a verb. Each verb sends its own nonce. */
export function headOf(verb: ClientAuthVerb) {
  return { nonce: encodeBase64(fixedBytes(`${verb} nonce`, 16)), timestamp: now, v: 1, echoNonce: true };
}

/** The inner request of a verb, with all optional members. */
export function goodClientRequest<Verb extends ClientAuthVerb>(verb: Verb) {
  return { ...members[verb], ...headOf(verb) };
}

/** The inner answer of a success. The token is made up, but has the length of the service's tokens. */
export function goodClientResult(verb: ClientAuthVerb) {
  return {
    success: true,
    code: 'OK',
    message: 'Lizenz gültig',
    sessionToken: 'dG9rZW4gb2YgdGhlIHRlc3QgdmVjdG9ycyBvbmx5ISE',
    expiresAt: '2025-10-16T08:53:20.000Z',
    user: {
      id: '01890a5d-b1c2-7f3a-9d4e-5f60718293a4',
      username: 'ada.lovelace-1',
      email: 'ada@example.com',
      applicationId: appId,
    },
    license: {
      id: '01890a5d-c2d3-7a4b-8e5f-60718293a4b5',
      status: 'active',
      expiresAt: '2026-10-09T08:53:20.000Z',
      subscriptionTier: verb === 'upgrade' ? 3 : 2,
    },
    session: { ip: '203.0.113.7', hwid: 'device-1' },
    sessionId,
    timestamp: now,
    v: 1,
    nonce: headOf(verb).nonce,
  } satisfies JsonObject;
}
