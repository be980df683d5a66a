import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { CopyButton } from '../../ui/copy-button.tsx';
import { numberText } from '../../ui/format.ts';
import { useNarrow } from '../../ui/use-narrow.ts';
import styles from './mint.module.css';
import type { MintedKey } from './use-mint.ts';

/** The keys, of which only those in view are rendered: there can be 10,000. */
export function KeyList({ keys }: { readonly keys: readonly MintedKey[] }) {
  const frame = useRef<HTMLElement>(null);
  const narrow = useNarrow();
  const height = narrow ? 48 : 40;
  const virtualizer = useVirtualizer({
    count: keys.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 8,
  });
  return (
    // A region that scrolls must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section ref={frame} className={styles.keys} tabIndex={0} aria-label="New license keys">
      <ol className={styles.keyList} style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const key = keys[index];
          return (
            key && (
              <li
                key={key.id}
                className={styles.keyRow}
                style={{ transform: `translateY(${start}px)` }}
                aria-setsize={keys.length}
                aria-posinset={index + 1}
              >
                <span className={styles.keyNumber} aria-hidden>
                  {numberText(index + 1)}
                </span>
                <span className={styles.keyText}>{key.licenseKey}</span>
                <CopyButton text={key.licenseKey} />
              </li>
            )
          );
        })}
      </ol>
    </section>
  );
}
