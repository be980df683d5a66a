import { type ReactNode, useEffect } from 'react';
import { adviceFor } from '../api/advice.ts';
import { asApiError } from '../api/api-error.ts';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { CodeBlock } from './code-block.tsx';
import styles from './page.module.css';

interface PageHeaderProps {
  readonly title: string;
  /** Shown after the title, such as a status. */
  readonly badge?: ReactNode;
  readonly sub?: ReactNode;
  readonly mono?: boolean;
  /** Buttons, the primary one last. */
  readonly children?: ReactNode;
}

/** The heading of a screen; its title is the document's. */
export function PageHeader({ title, badge, sub, mono = false, children }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · Latchkey`;
  }, [title]);
  return (
    <header className={styles.header}>
      <div className={styles.titles}>
        <h1 className={classNames(styles.title, mono && styles.mono)}>
          {title} {badge}
        </h1>
        {sub !== undefined && <div className={styles.sub}>{sub}</div>}
      </div>
      {children !== undefined && <div className={styles.actions}>{children}</div>}
    </header>
  );
}

interface CardProps {
  readonly title?: ReactNode;
  /** At the right of the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

export function Card({ title, aside, children }: CardProps) {
  return (
    <section className={styles.card}>
      {title !== undefined && (
        <div className={styles.cardTitle}>
          <h2>{title}</h2>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}

export const Stack = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.stack}>{children}</div>
);

/** A wide column and a narrow one beside it; one below the other on narrow screens. */
export const Columns = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.columns}>{children}</div>
);

/** A form's fields, one below the other. */
export const FormStack = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.form}>{children}</div>
);

/** Short fields side by side where there is room. */
export const FieldPair = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.pair}>{children}</div>
);

export const ButtonRow = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.formRow}>{children}</div>
);

interface FactsProps {
  /** What is known, and its name; facts that are null are left out. */
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}

export const Facts = ({ facts }: FactsProps) => (
  <dl className={styles.facts}>
    {facts
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .flatMap(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}-value`}>{value}</dd>])}
  </dl>
);

interface EmptyStateProps {
  /** What is not there. */
  readonly title: string;
  /** What it is good for, in a sentence. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
  /** The same at a terminal. */
  readonly curl?: string | undefined;
}

export const EmptyState = ({ title, children, action, curl }: EmptyStateProps) => (
  <div className={styles.empty}>
    <div>
      <strong>{title}</strong>
      {children}
    </div>
    {action}
    {curl !== undefined && <CodeBlock code={curl} label="The same at a terminal" />}
  </div>
);

/** What went wrong, and what to do about it. */
export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const known = asApiError(error);
  const advice = adviceFor(known);
  return (
    <div className={styles.problem} role="alert">
      <div>
        <strong>{known.message}</strong>
        {advice && <div>{advice}</div>}
      </div>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

interface NoticeProps {
  /** Whether it only tells, and warns of nothing. */
  readonly calm?: boolean;
  readonly children: ReactNode;
}

export const Notice = ({ calm = false, children }: NoticeProps) => (
  <div className={classNames(styles.notice, calm && styles.calm)}>{children}</div>
);

/** Appears only after a moment, so that fast answers do not flicker. */
export const Loading = () => (
  <div className={styles.loading} role="status">
    Loading…
  </div>
);
