import { LicenseStatusBadge } from '../../ui/status.tsx';
import { Dim } from '../../ui/text.tsx';
import { Ago } from '../../ui/time.tsx';
import { Devices, KeyLink, Tags } from './columns.tsx';
import { Expiry } from './expiry.tsx';
import styles from './licenses.module.css';
import type { LicenseRow } from './licenses-page.ts';

interface LicenseCardProps {
  readonly applicationId: string;
  readonly license: LicenseRow;
}

/** A license in the list of a narrow screen. */
export const LicenseCard = ({ applicationId, license }: LicenseCardProps) => (
  <div className={styles.cardRows}>
    <div className={styles.cardHead}>
      <KeyLink applicationId={applicationId} license={license} />
      <LicenseStatusBadge status={license.status} graceEndsAt={license.graceEndsAt ?? null} />
    </div>
    <div>
      <Dim>Expires</Dim> <Expiry {...license} />
    </div>
    {license.lastSeenAt && (
      <div>
        <Dim>Last seen</Dim> <Ago at={license.lastSeenAt} />
      </div>
    )}
    <div>
      <Dim>Devices</Dim> <Devices {...license} /> <Dim>· Tier</Dim> {license.subscriptionTier}
      {license.policy && (
        <>
          {' '}
          <Dim>·</Dim> {license.policy.name}
        </>
      )}
    </div>
    {license.tags.length > 0 && <Tags tags={license.tags} />}
    {license.note && <div className={styles.cardNote}>{license.note}</div>}
  </div>
);
