import { numberText } from '../../../ui/format.ts';
import { Dim, Mono } from '../../../ui/text.tsx';
import type { BulkKind } from './acts.ts';
import styles from './bulk.module.css';
import type { BulkOutcome } from './send-bulk.ts';
import { meaningOf } from './skip-codes.ts';

const sampleSize = 20;

interface BulkPreviewProps {
  readonly kind: BulkKind;
  readonly preview: BulkOutcome;
  /** Whether it is of what the form says now. */
  readonly isCurrent: boolean;
}

/** What a run would do. */
export function BulkPreview({ kind, preview, isCurrent }: BulkPreviewProps) {
  const changed = preview.results.filter(({ outcome }) => outcome === 'changed');
  return (
    <section className={styles.preview} aria-label="Preview" aria-busy={!isCurrent}>
      <div aria-live="polite">
        <strong>{numberText(preview.changed)}</strong> of {numberText(preview.matched)}{' '}
        {preview.matched === 1 ? 'license' : 'licenses'} would change.
      </div>
      {preview.skippedByCode.length > 0 && (
        <ul className={styles.skipped}>
          {preview.skippedByCode.map(({ code, count }) => (
            <li key={code}>
              <strong>{numberText(count)}</strong> skipped: {meaningOf(code, kind)} <Dim>{code}</Dim>
            </li>
          ))}
        </ul>
      )}
      {changed.length > 0 && (
        <div className={styles.sample}>
          {changed.slice(0, sampleSize).map(({ id, keyPrefix }) => (
            <Mono key={id}>{keyPrefix}…</Mono>
          ))}
          {changed.length > sampleSize && <Dim>and {numberText(changed.length - sampleSize)} more</Dim>}
        </div>
      )}
    </section>
  );
}
