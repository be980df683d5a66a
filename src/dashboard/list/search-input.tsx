import { useEffect, useRef, useState } from 'react';
import { tellError } from '../ui/toast.ts';
import styles from './search-input.module.css';

/** How long a pause in typing is before the list is read. */
const pauseMilliseconds = 250;

export interface Found {
  /** What is searched for in the place of what was typed. */
  readonly q: string;
  readonly says: string;
}

export interface SearchInputProps {
  /** The search of the URL. */
  readonly value: string;
  /** What a search finds, such as "Device or address". */
  readonly placeholder: string;
  readonly onChange: (q: string) => void;
  /** Looks up what must not become a search, and so a part of the URL, such as a whole key; null for anything else. */
  readonly lookUp?: (q: string) => Promise<Found> | null;
}

/** Searches while it is typed. The shortcut `/` leads to it. */
export function SearchInput({ value, placeholder, onChange, lookUp }: SearchInputProps) {
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
  const show = ({ q, says }: Found) => {
    setText(q);
    search(q);
    setSaid(says);
  };
  const type = (next: string) => {
    setText(next);
    setSaid(null);
    clearTimeout(timer.current);
    const q = next.trim();
    const start = () => {
      const found = lookUp?.(q) ?? null;
      if (found === null) search(q);
      else found.then(show).catch(tellError);
    };
    timer.current = setTimeout(start, q === '' ? 0 : pauseMilliseconds);
  };
  return (
    <>
      <div className={styles.box}>
        <input
          type="search"
          className={styles.search}
          aria-label="Search"
          placeholder={placeholder}
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
      {lookUp !== undefined && (
        <div className={styles.said} role="status">
          {said}
        </div>
      )}
    </>
  );
}
