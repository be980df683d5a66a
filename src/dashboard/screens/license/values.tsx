import { Dim, Mono } from '../../ui/text.tsx';
import styles from './license.module.css';

/** Entitlements or metadata: names, with their values unless they are plainly true. */
export function Values({ values }: { readonly values: unknown }) {
  const entries = typeof values === 'object' && values !== null ? Object.entries(values) : [];
  if (entries.length === 0) return <Dim>None</Dim>;
  return (
    <span className={styles.lines}>
      {entries.map(([name, value]) => (
        <Mono key={name}>{value === true ? name : `${name} = ${String(value)}`}</Mono>
      ))}
    </span>
  );
}
