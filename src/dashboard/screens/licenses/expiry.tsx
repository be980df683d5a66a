import { durationText } from '../../ui/duration.ts';
import { numberText } from '../../ui/format.ts';
import { Dim } from '../../ui/text.tsx';
import { Ago, Day } from '../../ui/time.tsx';
import type { LicenseRow } from './licenses-page.ts';

const dayMilliseconds = 86_400_000;

function daysLeft(from: string, to: string): string {
  const days = Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / dayMilliseconds));
  return days === 1 ? '1 day left' : `${numberText(days)} days left`;
}

type ExpiryProps = Pick<
  LicenseRow,
  'expiresAt' | 'durationSeconds' | 'activatedAt' | 'clockStopped' | 'suspendedAt'
>;

/** When a license ends, or what has to happen before that is known. */
export function Expiry({ expiresAt, durationSeconds, activatedAt, clockStopped, suspendedAt }: ExpiryProps) {
  if (expiresAt && clockStopped && suspendedAt) {
    return <Dim>clock stopped, {daysLeft(suspendedAt, expiresAt)}</Dim>;
  }
  if (expiresAt) {
    return (
      <>
        <Ago at={expiresAt} />{' '}
        <Dim>
          <Day at={expiresAt} />
        </Dim>
      </>
    );
  }
  if (durationSeconds === 0 || activatedAt) return <Dim>never</Dim>;
  return <Dim>{durationText(durationSeconds)} from first use</Dim>;
}
