import { useEffect, useRef, useState } from 'react';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy-text.ts';
import { csvLine } from '../../ui/csv.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { download, fileName } from '../../ui/download.ts';
import { numberText } from '../../ui/format.ts';
import type { LeaveQuestionProps } from '../../ui/leave-guard.tsx';
import { ButtonRow, Notice, PageHeader } from '../../ui/page.tsx';
import { tellError } from '../../ui/toast.ts';
import { KeyList } from './key-list.tsx';
import styles from './mint.module.css';
import { PrintSheet } from './print-sheet.tsx';
import type { MintedKey } from './use-mint.ts';

interface MintedKeysProps {
  readonly applicationId: string;
  readonly applicationName: string;
  readonly keys: readonly MintedKey[];
  readonly isPrivate: boolean;
  /** Whether the keys are somewhere else, so that leaving loses nothing. */
  readonly isKept: boolean;
  readonly onKept: () => void;
  readonly onMore: () => void;
}

/** The new keys, which are shown once. */
export function MintedKeys(props: MintedKeysProps) {
  const { applicationId, applicationName, keys, isPrivate, isKept, onKept, onMore } = props;
  const [said, setSaid] = useState('');
  const [isAsking, setIsAsking] = useState(false);
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), []);
  const kept = (how: string) => {
    setSaid(how);
    onKept();
  };
  const save = () => {
    download(fileName(applicationName, 'keys'), [
      csvLine(['licenseKey', 'licenseId']),
      ...keys.map(({ licenseKey, id }) => csvLine([licenseKey, id])),
    ]);
    kept('Saved in your downloads.');
  };
  const copyAll = () =>
    copyText(keys.map(({ licenseKey }) => licenseKey).join('\n')).then(() => kept('Copied.'), tellError);
  const print = () => {
    window.print();
    kept('Printed.');
  };
  const count = `${numberText(keys.length)} ${keys.length === 1 ? 'key' : 'keys'}`;
  return (
    <div className={styles.layout}>
      <div>
        <PageHeader title={`${count} minted`} sub={applicationName}>
          <Button onClick={() => (isKept ? onMore() : setIsAsking(true))}>Mint more</Button>
          <ButtonLink to="/applications/$applicationId/licenses" params={{ applicationId }}>
            Show licenses
          </ButtonLink>
        </PageHeader>
        <Notice>
          <strong>Keep {keys.length === 1 ? 'this key' : 'these keys'} now.</strong> They are shown only here
          and only once: {isPrivate ? 'the service has never seen them' : 'the service keeps no copy'}.
        </Notice>
      </div>
      <ButtonRow>
        <Button ref={first} look="primary" onClick={save}>
          Save as CSV
        </Button>
        <Button onClick={copyAll}>{keys.length === 1 ? 'Copy' : 'Copy all'}</Button>
        <Button onClick={print}>Print</Button>
        <span className={styles.saved} role="status">
          {said}
        </span>
      </ButtonRow>
      <KeyList keys={keys} />
      <PrintSheet applicationName={applicationName} keys={keys} />
      {isAsking && <LeaveDialog onLeave={onMore} onStay={() => setIsAsking(false)} />}
    </div>
  );
}

/** Asks before keys are lost. */
export const LeaveDialog = ({ onLeave, onStay }: LeaveQuestionProps) => (
  <ConfirmDialog
    title="Leave without the keys?"
    action="Leave and lose the keys"
    onConfirm={onLeave}
    onClose={onStay}
  >
    The keys were not copied, saved or printed. Once you leave, nobody can see them again.
  </ConfirmDialog>
);
