import { bytesToHex } from '@noble/hashes/utils.js';
import { encodeBase64 } from '../../../protocol/base64.ts';
import { signBytes } from '../../../protocol/signature.ts';
import { padded, requestInfo } from '../../../protocol/v2/message.ts';
import type { CallName } from '../../../protocol/v2/messages.ts';
import { appId, now, publicKey, seed } from '../exchange.ts';
import { fixedBytes } from '../material.ts';
import { answerVectors } from './answers.ts';
import { callNames, goodAnswer, goodRequest } from './calls.ts';
import { deriveAnswerSteps, deriveSteps, inHex } from './derivation.ts';
import { deviceRequestVectors } from './device-requests.ts';
import { callExchange, sealAnswer, signedFor } from './exchange.ts';
import { leaseVectors } from './leases.ts';
import { requestVectors } from './requests.ts';
import { revocationVectors } from './revocations.ts';
import { keyPair, newerKey, serviceKey, statementOf } from './service.ts';
import { statementVectors } from './statements.ts';
import { strictJsonVectors } from './strict-json.ts';

/** All test vectors of version 2. They are the same in every run. */
export function sealedV2Vectors() {
  return {
    protocol: 'latchkey sealed client protocol',
    version: 2,
    now,
    application: {
      appId,
      seedHex: bytesToHex(seed),
      publicKeyHex: bytesToHex(publicKey),
      publicKeyB64: encodeBase64(publicKey),
      version: '1.0.0',
    },
    service: {
      keyId: serviceKey.keyId,
      privateKeyHex: bytesToHex(keyPair.privateKey),
      publicKeyHex: bytesToHex(keyPair.publicKey),
      statementHex: bytesToHex(statementOf(serviceKey)),
      newerStatementHex: bytesToHex(statementOf(newerKey)),
    },
    strictJson: strictJsonVectors(),
    statements: statementVectors(),
    calls: callNames.map(callVector),
    requests: requestVectors(),
    leases: leaseVectors(),
    revocations: revocationVectors(),
    deviceRequests: deviceRequestVectors(),
  };
}

/** One complete, correct call with every value on the way, and other answers to its request. */
function callVector(call: CallName) {
  const exchange = callExchange(call);
  const { encapsulatedKey, sharedPoint, plaintext, body } = exchange;
  const info = requestInfo(serviceKey.keyId);
  const { values } = deriveSteps({ sharedPoint, encapsulatedKey, recipientKey: serviceKey.publicKey, info });
  const nonce = fixedBytes(`v2 response nonce ${call} good`, 32);
  const json = JSON.stringify(goodAnswer(call));
  const payload = padded(json);
  const signed = signedFor(exchange, payload);
  return {
    call,
    request: {
      json: JSON.stringify(goodRequest(call)),
      ...inHex({
        plaintext,
        ephemeralPrivateKey: exchange.ephemeralPrivateKey,
        encapsulatedKey,
        sharedPoint,
        info,
      }),
      ...inHex(values),
      ...inHex({ body, bodySha256: exchange.sha256 }),
    },
    answer: {
      json,
      ...inHex({ payload, signed, signature: signBytes(signed, seed), nonce }),
      ...inHex(deriveAnswerSteps(encapsulatedKey, nonce, values.responseSecret)),
      ...inHex({ body: sealAnswer(`${call} good`, exchange, { payload }) }),
    },
    answers: answerVectors(call),
  };
}
