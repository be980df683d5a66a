import { Fragment, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import styles from './shell.module.css';
import { currentShortcuts } from './shortcuts.ts';

/** The shortcuts of the screen from which it was opened. */
export function ShortcutsHelp({ onClose }: { readonly onClose: () => void }) {
  const [shortcuts] = useState(() => [
    { keys: 'Ctrl K', label: 'Search and go anywhere' },
    ...currentShortcuts(),
  ]);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} footer={<Button onClick={onClose}>Close</Button>}>
      <dl className={styles.help}>
        {shortcuts.map(({ keys, label }) => (
          <Fragment key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key} className={styles.kbd}>
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  );
}
