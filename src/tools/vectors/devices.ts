import { encodeBase64 } from '../../protocol/base64.ts';
import { canonicalJson, type JsonObject } from '../../protocol/canonical-json.ts';
import { clientPaths } from '../../protocol/constants.ts';
import type { VerdictCode } from '../../protocol/messages.ts';
import type { AnswerVector } from './answers.ts';
import { now, sealAnswer, sealRequest, sessionId } from './exchange.ts';
import { fixedBytes } from './material.ts';
import type { RequestVector } from './requests.ts';
import { type AnswerShape, deviceShapes, explanationCases } from './v2/answer-shapes.ts';
import { goodAnswer as goodAnswerV2, goodRequest as goodRequestV2 } from './v2/calls.ts';
import { requestShapes } from './v2/request-shapes.ts';

const calls = ['devices.list', 'devices.release', 'devices.move'] as const;
type DeviceCall = (typeof calls)[number];

/** List, release and move: their members are those of version 2 (SPEC §6, §7, §10). */
export function deviceVectors() {
  return calls.map((call) => {
    const innerRequest = JSON.stringify(goodRequest(call));
    const innerAnswer = canonicalJson(goodAnswer(call));
    return {
      verb: call,
      path: clientPaths[call],
      innerRequest,
      request: sealRequest(`${call} good`, innerRequest),
      innerAnswer,
      answer: sealAnswer(`${call} good`, innerAnswer),
      requests: requests(call),
      answers: answers(call),
    };
  });
}

const nonceOf = (call: DeviceCall) => encodeBase64(fixedBytes(`${call} nonce`, 16));

/** The head of a request of version 1 in the place of that of version 2. */
function goodRequest(call: DeviceCall) {
  const { v: _v, call: _call, app: _app, version: _version, time: _time, ...members } = goodRequestV2(call);
  return { ...members, nonce: nonceOf(call), timestamp: now, v: 1, echoNonce: true };
}

const headOf = (call: DeviceCall) => ({ sessionId, timestamp: now, v: 1, nonce: nonceOf(call) });

/** The same of an answer. Members that are undefined are absent. */
function answerOf(call: DeviceCall, members: object): JsonObject {
  const { v: _v, call: _call, time: _time, ...rest } = JSON.parse(JSON.stringify(members));
  return { ...rest, ...headOf(call) };
}

const goodAnswer = (call: DeviceCall) => answerOf(call, goodAnswerV2(call));

function requests(call: DeviceCall): RequestVector[] {
  const good = goodRequest(call);
  const inner = (why: string, members: object, expect: string): RequestVector => ({
    why,
    request: sealRequest(`${call} ${why}`, JSON.stringify(members)),
    expect,
  });
  return [
    inner('good', good, 'accept'),
    inner('for the path of this call', { ...good, echoRequest: true, call }, 'accept'),
    inner('for the path of another call', { ...good, echoRequest: true, call: 'validate' }, malformed),
    ...requestShapes(call).map(({ why, change, valid }) =>
      inner(why, { ...good, ...change }, valid ? 'accept' : malformed),
    ),
    { ...inner('a nonce that was used', good, 'REPLAY'), nonceUsed: true },
  ];
}

const malformed = 'sealed VALIDATION_FAILED';

const refusals: readonly VerdictCode[] = [
  'VALIDATION_FAILED',
  'HWID_BANNED',
  'INVALID_CREDENTIALS',
  'LICENSE_NOT_FOUND',
  'SELF_SERVICE_OFF',
  'DEVICE_UNKNOWN',
  'DEVICE_LIMIT',
];

function answers(call: DeviceCall): AnswerVector[] {
  const good = goodAnswer(call);
  const answer = (why: string, members: JsonObject, expect: string): AnswerVector => {
    const text = canonicalJson(members);
    const trusted = expect === untrusted ? {} : { innerAnswer: text };
    return { why, ...trusted, answer: sealAnswer(`${call} ${why}`, text), expect };
  };
  const shaped = ({ why, members, expect }: AnswerShape) =>
    answer(why, answerOf(call, members), expect === 'no answer' ? untrusted : expect);
  const refused = { ...headOf(call), success: false, message: 'Nein' };
  return [
    answer('good', good, 'valid'),
    answer('an unknown member', { ...good, later: [1] }, 'valid'),
    ...deviceShapes[call]().map(shaped),
    ...explanationCases.map(({ why, code, members }) =>
      answer(why, { ...refused, code, ...members }, 'refused'),
    ),
    ...refusals.map((code) => answer(`refused: ${code}`, { ...refused, code }, 'refused')),
    answer('failure with the code OK', { ...refused, code: 'OK' }, untrusted),
    answer('success with another code than OK', { ...good, code: 'DEVICE_LIMIT' }, untrusted),
    // A move has all that a release has: only the echo of the request tells them apart.
    ...calls
      .filter((other) => other !== call && (call !== 'devices.release' || other !== 'devices.move'))
      .map((other) =>
        answer(`the success of ${other}`, { ...goodAnswer(other), ...headOf(call) }, untrusted),
      ),
  ];
}

const untrusted = 'untrusted-answer';
