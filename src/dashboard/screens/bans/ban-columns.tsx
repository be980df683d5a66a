import { Link } from '@tanstack/react-router';
import type { BanType } from '../../generated/graphql.ts';
import type { Column } from '../../list/columns.ts';
import { Button } from '../../ui/button.tsx';
import { Dim, Hidden, Mono } from '../../ui/text.tsx';
import { Day } from '../../ui/time.tsx';
import styles from './bans.module.css';
import type { BanRow } from './bans-page.ts';

export const banTypeNames = { hwid: 'Device', ip: 'Address' } as const satisfies Record<BanType, string>;

function Source({ applicationId, ban }: { readonly applicationId: string; readonly ban: BanRow }) {
  if (!ban.sourceLicense) return <Dim>Deleted</Dim>;
  const { id, keyPrefix } = ban.sourceLicense;
  return (
    <Link to="/applications/$applicationId/licenses/$licenseId" params={{ applicationId, licenseId: id }}>
      <Mono>{keyPrefix}…</Mono>
    </Link>
  );
}

const Value = ({ value }: { readonly value: string }) => (
  <span title={value}>
    <Mono>{value}</Mono>
  </span>
);

const Remove = ({ ban, onRemove }: { readonly ban: BanRow; readonly onRemove: (ban: BanRow) => void }) => (
  <Button small onClick={() => onRemove(ban)}>
    Remove<Hidden> the ban of {ban.value}</Hidden>
  </Button>
);

export const banColumns = (
  applicationId: string,
  onRemove: (ban: BanRow) => void,
): readonly Column<BanRow>[] => [
  { id: 'value', header: 'Banned', cell: ({ value }) => <Value value={value} /> },
  { id: 'type', header: 'Type', width: '100px', cell: ({ banType }) => banTypeNames[banType] },
  { id: 'since', header: 'Since', width: '120px', cell: ({ createdAt }) => <Day at={createdAt} /> },
  {
    id: 'source',
    header: 'License',
    width: '180px',
    cell: (ban) => <Source applicationId={applicationId} ban={ban} />,
  },
  {
    id: 'remove',
    header: 'Action',
    stays: true,
    width: '120px',
    number: true,
    cell: (ban) => <Remove ban={ban} onRemove={onRemove} />,
  },
];

interface BanCardProps {
  readonly applicationId: string;
  readonly ban: BanRow;
  readonly onRemove: (ban: BanRow) => void;
}

/** A ban on a narrow screen. */
export const BanCard = ({ applicationId, ban, onRemove }: BanCardProps) => (
  <div className={styles.card}>
    <span className={styles.value}>
      <Mono>{ban.value}</Mono>
    </span>
    <span>
      {banTypeNames[ban.banType]}, since <Day at={ban.createdAt} />
    </span>
    <span className={styles.line}>
      <span>
        <Dim>License</Dim> <Source applicationId={applicationId} ban={ban} />
      </span>
      <Remove ban={ban} onRemove={onRemove} />
    </span>
  </div>
);
