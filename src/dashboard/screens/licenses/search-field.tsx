import { useEffect, useRef, useState } from 'react';
import { useDeveloper } from '../../shell/session.ts';
import { tellError } from '../../ui/toast.ts';
import { findPrefixByKey } from './find-by-key.ts';
import { looksLikeKey } from './key-shape.ts';
import styles from './licenses.module.css';

/** How long a pause in typing is before the list is read. */
const pauseMilliseconds = 250;

interface SearchFieldProps {
  readonly applicationId: string;
  /** The search of the URL. */
  readonly value: string;
  readonly onChange: (q: string) => void;
}

/** Searches while it is typed. Of a whole key, only the prefix becomes the search. */
export function SearchField({ applicationId, value, onChange }: SearchFieldProps) {
  const { licenseMask } = useDeveloper();
  const [text, setText] = useState(value);
  const [said, setSaid] = useState<string | null>(null);
  const sent = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    // The search has changed by a link or by going back.
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
    setSaid(null);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (q: string) => {
    sent.current = q;
    onChange(q);
  };
  const searchKey = async (key: string) => {
    const prefix = await findPrefixByKey(applicationId, key);
    setText(prefix ?? '');
    search(prefix ?? '');
    setSaid(
      prefix === null
        ? 'No license of this application has this key.'
        : 'Found by its whole key. The search keeps only the prefix, because addresses of pages are easily passed on.',
    );
  };
  const type = (next: string) => {
    setText(next);
    setSaid(null);
    clearTimeout(timer.current);
    const q = next.trim();
    timer.current = setTimeout(
      () => (looksLikeKey(q, licenseMask) ? void searchKey(q).catch(tellError) : search(q)),
      q === '' ? 0 : pauseMilliseconds,
    );
  };
  return (
    <>
      <div className={styles.searchBox}>
        <input
          type="search"
          className={styles.search}
          aria-label="Search licenses"
          placeholder="Key, note, device or address"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => type(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && text === '') event.currentTarget.blur();
          }}
        />
        <kbd className={styles.slash} aria-hidden>
          /
        </kbd>
      </div>
      <div className={styles.said} role="status">
        {said}
      </div>
    </>
  );
}
