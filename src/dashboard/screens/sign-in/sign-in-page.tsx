import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect } from 'react';
import { setVaultKey } from '../../vault/unlocked.ts';
import styles from './sign-in.module.css';

interface SignInPageProps {
  readonly title: string;
  readonly children: ReactNode;
  /** The way to the other page. */
  readonly other: ReactNode;
  readonly onSubmit: () => void;
}

/** The page of sign-in and sign-up: a form and nothing else. */
export function SignInPage({ title, children, other, onSubmit }: SignInPageProps) {
  useEffect(() => {
    document.title = `${title} · Latchkey`;
  }, [title]);
  const client = useQueryClient();
  // The session has ended: what was read in it is forgotten, and the vault of who was signed in is locked.
  useEffect(() => {
    client.clear();
    setVaultKey(null);
  }, [client]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <main className={styles.page}>
      <div className={styles.brand}>
        <span className={styles.mark} aria-hidden />
        Latchkey
      </div>
      <h1 className={styles.title}>{title}</h1>
      <form className={styles.form} onSubmit={submit}>
        {children}
      </form>
      <p className={styles.other}>{other}</p>
    </main>
  );
}
