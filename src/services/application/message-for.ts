import type { VerdictCode } from '../../protocol/messages.ts';
import type { ResponseMessages } from './messages.ts';

/** What the codes without an editable message say. */
const fixedMessages = {
  APP_MISMATCH: 'This license belongs to another application.',
  VALIDATION_FAILED: 'The request is not well formed.',
} as const;

/** The text that goes with a verdict: the application's own where the developer may edit it. */
export function messageFor(application: { readonly messages: ResponseMessages }, code: VerdictCode): string {
  switch (code) {
    case 'APP_MISMATCH':
    case 'VALIDATION_FAILED':
      return fixedMessages[code];
    default:
      return application.messages[code];
  }
}
