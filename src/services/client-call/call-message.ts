import type { AnswerCode } from '../../protocol/v2/messages.ts';
import { messageFor } from '../application/message-for.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';

/** The message of an answer: the application's own if developers can customize it for this code. */
export function callMessage(application: Pick<ApplicationSnapshot, 'messages'>, code: AnswerCode): string {
  switch (code) {
    case 'CLOCK_SKEW':
      return "The clocks of this device and of the service differ. The answer has the service's time.";
    case 'REPLAY':
      return 'This request has been sent before. Encrypt it again.';
    case 'RATE_LIMITED':
      return 'Too many requests. Try again in a minute.';
    case 'UNAVAILABLE':
      return 'The service is temporarily unavailable. Try again shortly.';
    case 'LEASES_DISABLED':
      return 'This application issues no offline leases.';
    default:
      return messageFor(application, code);
  }
}
