import type { ReactNode } from 'react';
import type { LicenseStatus } from '../generated/graphql.ts';
import { classNames } from './class-names.ts';
import styles from './status.module.css';

export type Tone = 'ok' | 'warn' | 'bad' | 'idle';

export const Status = ({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) => (
  <span className={classNames(styles.status, styles[tone])}>{children}</span>
);

const licenseTones = {
  unused: { tone: 'idle', label: 'Unused' },
  active: { tone: 'ok', label: 'Active' },
  suspended: { tone: 'warn', label: 'Suspended' },
  expired: { tone: 'idle', label: 'Expired' },
  banned: { tone: 'bad', label: 'Banned' },
} as const satisfies Record<LicenseStatus, { tone: Tone; label: string }>;

interface LicenseStatusBadgeProps {
  readonly status: LicenseStatus;
  /** Set while the license is valid only because of its grace. */
  readonly graceEndsAt?: string | null;
}

export function LicenseStatusBadge({ status, graceEndsAt }: LicenseStatusBadgeProps) {
  if (graceEndsAt) return <Status tone="warn">Grace</Status>;
  const { tone, label } = licenseTones[status];
  return <Status tone={tone}>{label}</Status>;
}

const endings: ReadonlySet<string> = new Set(['EXPIRED', 'SUSPENDED', 'APP_OUTDATED', 'LICENSE_REQUIRED']);

/** How a verdict or result code of a client's request looks. */
export const toneOfCode = (code: string): Tone => (code === 'OK' ? 'ok' : endings.has(code) ? 'warn' : 'bad');

export const CodeBadge = ({ code }: { readonly code: string }) => (
  <Status tone={toneOfCode(code)}>{code}</Status>
);
