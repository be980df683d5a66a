import { canonicalJson, type JsonObject } from '../../protocol/canonical-json.ts';
import { clientPaths } from '../../protocol/constants.ts';
import type { VerdictCode } from '../../protocol/messages.ts';
import { clientAuthAnswers } from './client-auth-answers.ts';
import { goodClientRequest, goodClientResult } from './client-auth-exchange.ts';
import { loginRequests, registerRequests, upgradeRequests } from './client-auth-requests.ts';
import { sealAnswer, sealRequest } from './exchange.ts';
import type { RequestVector } from './requests.ts';

const client: readonly VerdictCode[] = ['APP_DISABLED', 'APP_OUTDATED', 'IP_BANNED', 'HWID_BANNED'];
const license: readonly VerdictCode[] = [
  'LICENSE_NOT_FOUND',
  'APP_MISMATCH',
  'BANNED',
  'SUSPENDED',
  'EXPIRED',
  'DEVICE_RELEASED',
  'HWID_MISMATCH',
  'DEVICE_LIMIT',
];

/** Register, login and upgrade: one successful exchange each, then requests and answers (SPEC §6, §7, §10). */
export function clientAuthVectors() {
  return [
    verbVectors('register', registerRequests(), [
      ...client,
      'REGISTER_DISABLED',
      'LICENSE_REQUIRED',
      ...license,
      'USERNAME_TAKEN',
    ]),
    verbVectors('login', loginRequests(), [...client, 'INVALID_CREDENTIALS', ...license]),
    verbVectors('upgrade', upgradeRequests(), [...client, 'USER_NOT_FOUND', ...license, 'TIER_NOT_HIGHER']),
  ];
}

function verbVectors(
  verb: 'register' | 'login' | 'upgrade',
  requests: readonly RequestVector[],
  refusals: readonly VerdictCode[],
) {
  const innerRequest = JSON.stringify(goodClientRequest(verb));
  const result: JsonObject = goodClientResult(verb);
  const innerAnswer = canonicalJson(result);
  return {
    verb,
    path: clientPaths[verb],
    innerRequest,
    request: sealRequest(`${verb} good`, innerRequest),
    innerAnswer,
    answer: sealAnswer(`${verb} good`, innerAnswer),
    requests,
    answers: clientAuthAnswers(verb, ['VALIDATION_FAILED', ...refusals]),
  };
}
