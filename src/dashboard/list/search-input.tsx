import { useEffect, useRef, useState } from 'react';
import styles from './filter-bar.module.css';

/** How long a pause in typing is before the list is read. */
const pauseMilliseconds = 250;

interface SearchInputProps {
  /** The search of the URL. */
  readonly value: string;
  readonly placeholder: string;
  readonly onChange: (q: string) => void;
}

/** Searches while it is typed. The shortcut `/` leads to it. */
export function SearchInput({ value, placeholder, onChange }: SearchInputProps) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    // The search has changed by a link or by going back.
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    const search = () => {
      sent.current = next.trim();
      onChange(next.trim());
    };
    timer.current = setTimeout(search, next === '' ? 0 : pauseMilliseconds);
  };
  return (
    <input
      type="search"
      className={styles.search}
      aria-label="Search"
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={(event) => type(event.target.value)}
    />
  );
}
