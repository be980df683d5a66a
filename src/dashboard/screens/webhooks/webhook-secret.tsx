import { CodeBlock } from '../../ui/code-block.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
// The beginning of the receiver in docs/webhooks.md.
import receiver from './receiver.txt?raw';

interface WebhookSecretProps {
  readonly secret: string;
  /** Whether another secret came before it. */
  readonly isReplacement?: boolean;
  readonly onClose: () => void;
}

/** The signing secret, and how a receiver uses it. */
export const WebhookSecret = ({ secret, isReplacement = false, onClose }: WebhookSecretProps) => (
  <SecretDialog title="The signing secret" kind="secret" secret={secret} wide onClose={onClose}>
    {isReplacement && (
      <p>
        For 24 hours, messages are also signed with the old secret. Change it in your receiver until then.
      </p>
    )}
    <p>
      Each message is signed with it, after the Standard Webhooks specification. Your receiver must verify the
      signature, or anybody could send it events. In Node.js:
    </p>
    <CodeBlock code={receiver.trimEnd()} label="A receiver that verifies messages" />
  </SecretDialog>
);
