import { answerVectors } from './answers.ts';
import { base64Vectors } from './base64.ts';
import { canonicalJsonVectors } from './canonical-json.ts';
import { clientAuthVectors } from './client-auth.ts';
import { deviceVectors } from './devices.ts';
import { exchangeVector } from './exchange.ts';
import { handshakeVectors } from './handshakes.ts';
import { keyScheduleVectors } from './key-schedule.ts';
import { requestEchoVectors } from './request-echo.ts';
import { requestVectors } from './requests.ts';
import { sealVectors } from './seal.ts';
import { signatureVectors } from './signature.ts';

/** All test vectors of the sealed protocol. They are the same in every run. */
export function sealedVectors() {
  return {
    protocol: 'latchkey sealed client protocol',
    version: 1,
    base64: base64Vectors(),
    canonicalJson: canonicalJsonVectors(),
    keySchedule: keyScheduleVectors(),
    seal: sealVectors(),
    signature: signatureVectors(),
    exchange: exchangeVector(),
    handshakes: handshakeVectors(),
    requests: requestVectors(),
    answers: answerVectors(),
    requestEcho: requestEchoVectors(),
    clientAuth: clientAuthVectors(),
    devices: deviceVectors(),
  };
}
