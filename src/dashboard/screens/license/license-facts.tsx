import { durationText } from '../../ui/duration.ts';
import { momentText, numberText } from '../../ui/format.ts';
import { Card, Facts } from '../../ui/page.tsx';
import { Chip, Dim, Mono } from '../../ui/text.tsx';
import { Moment } from '../../ui/time.tsx';
import styles from './license.module.css';
import type { LicenseData } from './license-data.ts';
import { LicenseBans, LicenseUsers, PolicyLink } from './license-links.tsx';
import { Values } from './values.tsx';

function expiryText({ expiresAt, durationSeconds, graceSeconds, graceEndsAt }: LicenseData): string {
  const grace = graceSeconds > 0 ? `, ${durationText(graceSeconds)} grace` : '';
  if (graceEndsAt && expiresAt)
    return `${momentText(expiresAt)}, valid until ${momentText(graceEndsAt)} by its grace`;
  if (expiresAt) return momentText(expiresAt) + grace;
  return durationSeconds === 0 ? 'Never' : `${durationText(durationSeconds)} from the first use${grace}`;
}

const selfServiceNames = { off: 'Off', key: 'By key', account: 'By account' } as const;

function selfServiceText({ selfService, moves }: LicenseData): string {
  const name = selfServiceNames[selfService];
  if (selfService === 'off') return name;
  if (!moves) return `${name}, any number of moves`;
  const count = `${moves.count} ${moves.count === 1 ? 'move' : 'moves'}`;
  return `${name}, ${count} in ${durationText(moves.periodSeconds)}`;
}

const orNone = (seconds: number | null | undefined, none: string) => (seconds ? durationText(seconds) : none);

export function LicenseFacts({ license }: { readonly license: LicenseData }) {
  const { createdAt, activatedAt, suspendedAt, suspensionReason, clockStopped, leaseSeconds } = license;
  const { leaseDays } = license.application;
  return (
    <Card title="License">
      <Facts
        facts={[
          ['Policy', <PolicyLink key="policy" license={license} />],
          ['Tier', numberText(license.subscriptionTier)],
          ['Minted', <Moment key="minted" at={createdAt} />],
          ['First used', activatedAt ? <Moment key="used" at={activatedAt} /> : 'Not yet'],
          ['Expires', expiryText(license)],
          ['Suspended', suspendedAt && <Moment key="suspended" at={suspendedAt} />],
          ['Reason', suspensionReason],
          ['Clock', suspendedAt && (clockStopped ? 'Stopped: its remaining term is kept' : 'Runs on')],
          ['Device limit', numberText(license.deviceLimit)],
          ['Self-service', selfServiceText(license)],
          ['Cooldown', orNone(license.cooldownSeconds, 'None')],
          ['Idle release', orNone(license.releaseIdleAfterSeconds, 'Never')],
          [
            'Lease term',
            orNone(leaseSeconds, `${leaseDays} ${leaseDays === 1 ? 'day' : 'days'}, the application's`),
          ],
          ['Entitlements', <Values key="entitlements" values={license.entitlements} />],
          ['Public metadata', <Values key="client" values={license.metadata.client} />],
          ['Private metadata', <Values key="private" values={license.metadata.private} />],
          [
            'Tags',
            license.tags.length > 0 ? <Tags key="tags" tags={license.tags} /> : <Dim key="tags">None</Dim>,
          ],
          [
            'Last address',
            license.lastIp ? <Mono key="ip">{license.lastIp}</Mono> : <Dim key="ip">None</Dim>,
          ],
          ['Users', <LicenseUsers key="users" license={license} />],
          ['Bans', <LicenseBans key="bans" license={license} />],
        ]}
      />
    </Card>
  );
}

const Tags = ({ tags }: { readonly tags: readonly string[] }) => (
  <span className={styles.tags}>
    {tags.map((tag) => (
      <Chip key={tag}>{tag}</Chip>
    ))}
  </span>
);
