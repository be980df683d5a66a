import { randomBytes } from 'node:crypto';
import { decodeBase64 } from '../../../src/protocol/base64.ts';
import { clientPaths } from '../../../src/protocol/constants.ts';
import { sessionInitResponse, sessionInitSignedPart } from '../../../src/protocol/messages.ts';
import { verifySignatureB64 } from '../../../src/protocol/signature.ts';
import type { ClientOptions } from '../../../src/sdk/index.ts';
import { makeAhead } from '../ahead.ts';
import { httpRequest } from '../http-message.ts';
import { type Comparison, jsonOf, quote, type Scenario } from '../scenario.ts';
import type { Programs } from './programs.ts';

export const sessionNames = {
  service: 'client: session init',
  bare: 'bare program: session init',
} as const;

export const sessionComparisons: readonly Comparison[] = [
  { measured: sessionNames.service, against: sessionNames.bare, of: 'rate' },
  { measured: sessionNames.service, against: sessionNames.bare, of: 'cost' },
];

/** The handshake, each with a nonce of its own. */
export function sessionScenarios({ clients }: Programs): Scenario[] {
  let expected: number | undefined;
  const scenario = (target: keyof typeof sessionNames): Scenario => {
    const client = clients[target];
    const requests = makeAhead(() => handshakeOf(client));
    return {
      name: sessionNames[target],
      target,
      prepare: async (amount) => requests.prepare(amount),
      next: requests.next,
      faultOf: (answer) =>
        answer.status === 200 && answer.body.length === (expected ?? answer.body.length)
          ? null
          : quote(answer),
      closeFaultOf: (answer) => {
        const { length } = answer.body;
        expected ??= length;
        if (length !== expected) return `Service and bare program answer ${expected} and ${length} bytes`;
        return handshakeFault(jsonOf(answer), client);
      },
    };
  };
  return [scenario('service'), scenario('bare')];
}

const handshakeOf = ({ appId, version }: ClientOptions) =>
  httpRequest({
    method: 'POST',
    path: clientPaths.sessionInit,
    body: { appId, clientNonceB64: randomBytes(32).toString('base64'), clientVersion: version },
  });

function handshakeFault(body: unknown, { appId, publicKeyB64 }: ClientOptions): string | null {
  const parsed = sessionInitResponse.safeParse(body);
  const publicKey = decodeBase64(publicKeyB64);
  if (!parsed.success || publicKey === null) return 'The handshake is malformed';
  const signed = sessionInitSignedPart(appId, parsed.data);
  return verifySignatureB64(parsed.data.signatureB64, signed, publicKey) ? null : 'The signature is wrong';
}
