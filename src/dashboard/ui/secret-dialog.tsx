import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';
import { Notice } from './page.tsx';
import styles from './secret-dialog.module.css';
import { useLeaveGuard } from './use-leave-guard.ts';

interface SecretDialogProps {
  readonly title: string;
  /** What it is, such as "token". */
  readonly kind: string;
  readonly secret: string;
  /** What to do with it. */
  readonly children?: ReactNode;
  readonly wide?: boolean;
  readonly onClose: () => void;
}

/** Shows a secret that the service shows only once. Until it was copied, closing asks first. */
export function SecretDialog({ title, kind, secret, children, wide, onClose }: SecretDialogProps) {
  const [isCopied, setIsCopied] = useState(false);
  const [wasWarned, setWasWarned] = useState(false);
  useLeaveGuard(!isCopied, () => setWasWarned(true));
  const close = () => (isCopied ? onClose() : setWasWarned(true));
  return (
    <Dialog
      title={title}
      wide={wide}
      onClose={close}
      footer={
        <>
          {wasWarned && !isCopied && (
            <Button look="danger" onClick={onClose}>
              Close without copying
            </Button>
          )}
          <Button look={isCopied ? 'primary' : 'plain'} onClick={close}>
            Done
          </Button>
        </>
      }
    >
      <Notice>
        {isCopied ? (
          `Copied. Store the ${kind} now: it is not shown again.`
        ) : (
          <span role={wasWarned ? 'alert' : undefined}>
            {wasWarned ? `You have not copied the ${kind} yet. ` : ''}
            Copy the {kind} now. It is shown only here, and the service cannot show it again.
          </span>
        )}
      </Notice>
      <div className={styles.secret}>
        <code onCopy={() => setIsCopied(true)}>{secret}</code>
        <CopyButton text={secret} label={`Copy ${kind}`} onCopied={() => setIsCopied(true)} />
      </div>
      {children}
    </Dialog>
  );
}
