import { useState } from 'react';
import { useDeveloper } from '../../shell/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { download } from '../../ui/download.ts';
import { ButtonRow, Notice } from '../../ui/page.tsx';
import { useLeaveGuard } from '../../ui/use-leave-guard.ts';
import styles from './security.module.css';

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** The recovery codes, which are shown only once: closing asks until they were copied, saved or printed. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  const { email } = useDeveloper();
  const [isKept, setIsKept] = useState(false);
  const [wasWarned, setWasWarned] = useState(false);
  useLeaveGuard(!isKept, () => setWasWarned(true));
  const text = `${codes.join('\n')}\n`;
  const close = () => (isKept ? onClose() : setWasWarned(true));
  const save = () => {
    download('latchkey-recovery-codes.txt', [`Latchkey recovery codes of ${email}\n\n${text}`], 'text/plain');
    setIsKept(true);
  };
  const print = () => {
    window.print();
    setIsKept(true);
  };
  return (
    <Dialog
      title="Your recovery codes"
      onClose={close}
      footer={
        <>
          {wasWarned && !isKept && (
            <Button look="danger" onClick={onClose}>
              Close without keeping them
            </Button>
          )}
          <Button look={isKept ? 'primary' : 'plain'} onClick={close}>
            Done
          </Button>
        </>
      }
    >
      <Notice>
        <span role={wasWarned && !isKept ? 'alert' : undefined}>
          {wasWarned && !isKept ? 'You have not kept them yet. ' : ''}
          Keep them where your phone is not. Each signs you in once instead of a code of the app. They are
          shown only now.
        </span>
      </Notice>
      <div className={styles.sheet}>
        <h2 className={styles.sheetTitle}>Latchkey recovery codes of {email}</h2>
        <ul className={styles.codes}>
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
      </div>
      <ButtonRow>
        <CopyButton text={text} label="Copy codes" onCopied={() => setIsKept(true)} />
        <Button small onClick={save}>
          Save as a file
        </Button>
        <Button small onClick={print}>
          Print
        </Button>
      </ButtonRow>
    </Dialog>
  );
}
