import { useEffect, useState } from 'react';
import { createPortal, flushSync } from 'react-dom';
import { numberText } from '../../ui/format.ts';
import styles from './mint.module.css';
import type { MintedKey } from './use-mint.ts';

interface PrintSheetProps {
  readonly applicationName: string;
  readonly keys: readonly MintedKey[];
}

/**
 * What is printed in the place of the page. The list on the screen has only the keys that are in view, so all of them are
 * rendered for the time of printing, also if the browser's own command began it.
 */
export function PrintSheet({ applicationName, keys }: PrintSheetProps) {
  const [isPrinting, setIsPrinting] = useState(false);
  useEffect(() => {
    const before = () => flushSync(() => setIsPrinting(true));
    const after = () => setIsPrinting(false);
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, []);
  if (!isPrinting) return null;
  return createPortal(
    <div className={styles.sheet} data-print-sheet>
      <h1>{applicationName}</h1>
      <div>
        {numberText(keys.length)} license keys, minted {new Date().toLocaleString('en-GB')}
      </div>
      <ol>
        {keys.map(({ id, licenseKey }) => (
          <li key={id}>{licenseKey}</li>
        ))}
      </ol>
    </div>,
    document.body,
  );
}
