import { Link } from '@tanstack/react-router';
import type { Column } from '../../list/columns.ts';
import { numberText } from '../../ui/format.ts';
import { Dim, Mono } from '../../ui/text.tsx';
import { Day } from '../../ui/time.tsx';
import styles from './users.module.css';
import type { UserRow } from './users-page.ts';

interface UserProps {
  readonly applicationId: string;
  readonly user: UserRow;
}

const UserLink = ({ applicationId, user: { id, username } }: UserProps) => (
  <Link to="/applications/$applicationId/users/$userId" params={{ applicationId, userId: id }}>
    {username}
  </Link>
);

function LicenseLink({ applicationId, user: { license } }: UserProps) {
  if (!license) return <Dim>None</Dim>;
  return (
    <Link
      to="/applications/$applicationId/licenses/$licenseId"
      params={{ applicationId, licenseId: license.id }}
    >
      <Mono>{license.keyPrefix}…</Mono>
    </Link>
  );
}

const Device = ({ hwid }: { readonly hwid: string | null | undefined }) =>
  hwid ? (
    <span title={hwid}>
      <Mono>{hwid}</Mono>
    </span>
  ) : (
    <Dim>–</Dim>
  );

export const userColumns = (applicationId: string): readonly Column<UserRow>[] => [
  {
    id: 'username',
    header: 'Username',
    cell: (user) => <UserLink applicationId={applicationId} user={user} />,
  },
  { id: 'email', header: 'Email', cell: ({ email }) => email ?? <Dim>–</Dim> },
  {
    id: 'license',
    header: 'License',
    width: '130px',
    cell: (user) => <LicenseLink applicationId={applicationId} user={user} />,
  },
  {
    id: 'tier',
    header: 'Tier',
    width: '72px',
    number: true,
    cell: ({ subscriptionTier: tier }) => (typeof tier === 'number' ? numberText(tier) : <Dim>–</Dim>),
  },
  { id: 'device', header: 'Device', cell: ({ lastHwid }) => <Device hwid={lastHwid} /> },
  { id: 'created', header: 'Created', width: '110px', cell: ({ createdAt }) => <Day at={createdAt} /> },
];

/** A user on a narrow screen. */
export function UserCard({ applicationId, user }: UserProps) {
  const { email, subscriptionTier: tier, lastHwid, createdAt } = user;
  return (
    <div className={styles.card}>
      <span className={styles.cardLine}>
        <UserLink applicationId={applicationId} user={user} />
        <Dim>
          <Day at={createdAt} />
        </Dim>
      </span>
      {email && <span className={styles.cut}>{email}</span>}
      <span className={styles.cardLine}>
        <LicenseLink applicationId={applicationId} user={user} />
        {typeof tier === 'number' && <Dim>Tier {numberText(tier)}</Dim>}
      </span>
      {lastHwid && (
        <span className={styles.cut}>
          <Device hwid={lastHwid} />
        </span>
      )}
    </div>
  );
}
