import { Link } from '@tanstack/react-router';
import type { Column } from '../../list/columns.ts';
import { numberText } from '../../ui/format.ts';
import { LicenseStatusBadge } from '../../ui/status.tsx';
import { Chip, Dim, Hidden, Mono } from '../../ui/text.tsx';
import { Ago, Day } from '../../ui/time.tsx';
import { Expiry } from './expiry.tsx';
import styles from './licenses.module.css';
import type { LicenseRow } from './licenses-page.ts';

/** The key's prefix, which leads to the license. */
export const KeyLink = ({ applicationId, license }: { applicationId: string; license: LicenseRow }) => (
  <Link
    to="/applications/$applicationId/licenses/$licenseId"
    params={{ applicationId, licenseId: license.id }}
    className={styles.key}
  >
    {license.keyPrefix}…
  </Link>
);

/** Such as "1 / 3". More devices than the limit allows are marked. */
export const Devices = ({ deviceCount, deviceLimit, overLimit }: LicenseRow) => (
  <span
    className={overLimit ? styles.over : undefined}
    title={overLimit ? 'More devices than the limit allows, because it was lowered' : undefined}
  >
    {numberText(deviceCount)} / {numberText(deviceLimit)}
    {overLimit && (
      <>
        {' '}
        ▲<Hidden> over the limit</Hidden>
      </>
    )}
  </span>
);

interface TagsProps {
  readonly tags: readonly string[];
  /** How many are shown; of the others, how many there are. */
  readonly most?: number;
}

export const Tags = ({ tags, most = tags.length }: TagsProps) => (
  <span className={styles.tags} title={tags.join(', ')}>
    {tags.slice(0, most).map((tag) => (
      <Chip key={tag}>{tag}</Chip>
    ))}
    {tags.length > most && <Dim>+{tags.length - most}</Dim>}
  </span>
);

/** The columns in the order in which they give way on screens that are too narrow for all: the last first. */
export const licenseColumns = (applicationId: string): readonly Column<LicenseRow>[] => [
  {
    id: 'key',
    header: 'Key',
    width: '124px',
    cell: (license) => <KeyLink applicationId={applicationId} license={license} />,
  },
  {
    id: 'status',
    header: 'Status',
    width: '104px',
    cell: ({ status, graceEndsAt }) => (
      <LicenseStatusBadge status={status} graceEndsAt={graceEndsAt ?? null} />
    ),
  },
  { id: 'tier', header: 'Tier', width: '64px', number: true, cell: (license) => license.subscriptionTier },
  { id: 'devices', header: 'Devices', width: '88px', number: true, cell: Devices },
  { id: 'expires', header: 'Expires', width: '190px', cell: Expiry },
  {
    id: 'seen',
    header: 'Last seen',
    width: '112px',
    cell: ({ lastSeenAt }) => (lastSeenAt ? <Ago at={lastSeenAt} /> : <Dim>never</Dim>),
  },
  { id: 'tags', header: 'Tags', width: '164px', cell: ({ tags }) => <Tags tags={tags} most={2} /> },
  { id: 'minted', header: 'Minted', width: '92px', cell: ({ createdAt }) => <Day at={createdAt} /> },
  {
    id: 'address',
    header: 'Last address',
    width: '132px',
    cell: ({ lastIp }) => lastIp && <Mono>{lastIp}</Mono>,
  },
  { id: 'policy', header: 'Policy', width: '140px', cell: ({ policy }) => policy?.name },
  {
    id: 'note',
    header: 'Note',
    width: '180px',
    cell: ({ note }) => note && <span title={note}>{note}</span>,
  },
];
