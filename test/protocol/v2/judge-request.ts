import { agreeX25519, x25519PrivateKey } from '../../../src/crypto/x25519.ts';
import { clockSkewSeconds } from '../../../src/protocol/constants.ts';
import { deriveContext, keyScheduleContext } from '../../../src/protocol/v2/hpke.ts';
import {
  isRequestLength,
  type RequestParts,
  readRequest,
  requestInfo,
} from '../../../src/protocol/v2/message.ts';
import { callApplication, callHead, callMembers } from '../../../src/protocol/v2/messages.ts';
import { parseStrictJson } from '../../../src/protocol/v2/strict-json.ts';

/** What a server knows. */
export interface ServerState {
  readonly appId: string;
  /** Unix seconds. */
  readonly now: number;
  readonly keyId: number;
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
  /** Marks an encapsulated key as used; false if it was used already. */
  readonly use: (encapsulatedKey: Uint8Array) => boolean;
}

/** SPEC §11, steps 1 to 5, without licenses and accounts: `accept`, or the code with which it ends. */
export function judgeRequest(body: Uint8Array, server: ServerState): string {
  if (!isRequestLength(body.length)) return 'plaintext MALFORMED';
  const parts = readRequest(body);
  const plaintext = parts?.keyId === server.keyId ? openRequest(parts, server) : null;
  if (parts === null || plaintext === null) return 'plaintext KEY_UNKNOWN';
  const content = parseStrictJson(plaintext);
  const application = callApplication.safeParse(content);
  if (!application.success || application.data.app !== server.appId) return 'plaintext APP_NOT_FOUND';
  const head = callHead.safeParse(content);
  if (!head.success) return 'signed VALIDATION_FAILED';
  if (Math.abs(head.data.time - server.now) > clockSkewSeconds) return 'signed CLOCK_SKEW';
  if (!server.use(parts.encapsulatedKey)) return 'signed REPLAY';
  const members = Object.entries(callMembers).find(([call]) => call === head.data.call)?.[1];
  return members?.safeParse(content).success === true ? 'accept' : 'signed VALIDATION_FAILED';
}

function openRequest(
  { encapsulatedKey, ciphertext }: RequestParts,
  { keyId, privateKey, publicKey }: ServerState,
): Uint8Array | null {
  const agreed = agreeX25519(x25519PrivateKey({ privateKey, publicKey }), encapsulatedKey);
  // Other platforms return the zero point instead of refusing it, and leave the check to the protocol.
  const sharedPoint = agreed ?? new Uint8Array(32);
  const scheduleContext = keyScheduleContext(requestInfo(keyId));
  const context = deriveContext({ sharedPoint, encapsulatedKey, recipientKey: publicKey, scheduleContext });
  return context?.open(ciphertext) ?? null;
}
