import type { VerdictCode } from '../../protocol/messages.ts';
import type { ResponseMessages } from './messages.ts';

/** Messages of the codes that developers cannot customize. */
const fixedMessages = {
  APP_MISMATCH: 'This license belongs to another application.',
  VALIDATION_FAILED: 'The request is not well formed.',
} as const;

/** The message for a verdict: the application's own if developers can customize it for this code. */
export function messageFor(application: { readonly messages: ResponseMessages }, code: VerdictCode): string {
  switch (code) {
    case 'APP_MISMATCH':
    case 'VALIDATION_FAILED':
      return fixedMessages[code];
    default:
      return application.messages[code];
  }
}
