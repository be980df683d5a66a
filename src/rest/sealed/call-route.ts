import { answerMediaType, callPath, maxRequestBytes } from '../../protocol/v2/constants.ts';
import { answerCall } from '../../services/client-call/answer-call.ts';
import { malformedCall } from '../../services/client-call/open-call.ts';
import { serviceContext } from '../adapter.ts';
import { limitBody } from '../middleware/limit-body.ts';
import type { ClientRoute } from './client-route.ts';

/**
 * Protocol version 2. Every request takes a point of `validate`, before it costs a decryption; which call it makes is known
 * only afterwards.
 */
export const callRoute: ClientRoute = {
  pattern: callPath,
  limit: 'validate',
  boundBody: limitBody(maxRequestBytes, () => {
    throw malformedCall();
  }),
  answer: async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer());
    const { bytes, reached } = await answerCall(serviceContext(c), body);
    return { status: 200, type: answerMediaType, body: new Uint8Array(bytes), reached };
  },
};
