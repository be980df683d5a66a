import { useSyncExternalStore } from 'react';
import { clockText, dayText, momentText, relativeText } from './format.ts';

/** One clock for all relative times on the screen, which moves twice a minute. */
let now = Date.now();
const readers = new Set<() => void>();
setInterval(() => {
  now = Date.now();
  for (const read of readers) read();
}, 30_000);

const subscribe = (read: () => void) => {
  readers.add(read);
  return () => readers.delete(read);
};

export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

interface TimeProps {
  /** ISO 8601. */
  readonly at: string;
}

/** Such as "2 min ago"; the exact time is its title. */
export function Ago({ at }: TimeProps) {
  useNow();
  return (
    <time dateTime={at} title={momentText(at)}>
      {/* Not the clock's last move: what is newer than that would lie in the future. */}
      {relativeText(at, Date.now())}
    </time>
  );
}

/** Such as "3 Dec"; the exact time is its title. */
export const Day = ({ at }: TimeProps) => (
  <time dateTime={at} title={momentText(at)}>
    {dayText(at)}
  </time>
);

/** The date and the time. */
export const Moment = ({ at }: TimeProps) => <time dateTime={at}>{momentText(at)}</time>;

/** The time of day; the exact time is its title. */
export const Clock = ({ at }: TimeProps) => (
  <time dateTime={at} title={momentText(at)}>
    {clockText(at)}
  </time>
);
