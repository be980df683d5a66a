import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useDeveloper } from '../shell/session.ts';
import { tellError } from '../ui/toast.ts';
import { looksLikeKey } from './key-shape.ts';
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
  /** Finds by a whole license key, which must not become a search: that is a part of the URL. */
  readonly findKey?: (key: string) => Promise<Found>;
}

const refuseKey = async (): Promise<Found> => ({
  q: '',
  says: 'This looks like a whole license key. Search for it among the licenses: the search here becomes a part of the address.',
});

/** Searches while it is typed. The shortcut `/` leads to it. */
export function SearchInput({ value, placeholder, onChange, findKey = refuseKey }: SearchInputProps) {
  const router = useRouter();
  const { licenseMask } = useDeveloper();
  const [pathname] = useState(() => router.latestLocation.pathname);
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
    // While another screen is being loaded, this one is still shown: searching would cancel the way there.
    if (router.latestLocation.pathname !== pathname) return;
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
      if (looksLikeKey(q, licenseMask)) findKey(q).then(show, tellError);
      else search(q);
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
      <div className={styles.said} role="status">
        {said}
      </div>
    </>
  );
}
