import { Link } from '@tanstack/react-router';
import { numberText } from '../../ui/format.ts';
import { Dim, Mono } from '../../ui/text.tsx';
import styles from './license.module.css';
import type { LicenseData } from './license-data.ts';

interface LicenseProps {
  readonly license: LicenseData;
}

export function PolicyLink({ license: { application, policy, policyId } }: LicenseProps) {
  if (!policy) return <Dim>{policyId ? 'Deleted' : 'None'}</Dim>;
  return (
    <Link
      to="/applications/$applicationId/policies/$policyId"
      params={{ applicationId: application.id, policyId: policy.id }}
    >
      {policy.name}
    </Link>
  );
}

export function LicenseUsers({ license: { application, users } }: LicenseProps) {
  if (users.totalCount === 0) return <Dim>None</Dim>;
  return (
    <span className={styles.lines}>
      {users.edges.map(({ node: { id, username } }) => (
        <Link
          key={id}
          to="/applications/$applicationId/users/$userId"
          params={{ applicationId: application.id, userId: id }}
        >
          {username}
        </Link>
      ))}
      <More total={users.totalCount} shown={users.edges.length} />
    </span>
  );
}

export function LicenseBans({ license: { application, bans } }: LicenseProps) {
  if (bans.totalCount === 0) return <Dim>None</Dim>;
  return (
    <span className={styles.lines}>
      {bans.edges.map(({ node: { id, value } }) => (
        <Link
          key={id}
          to="/applications/$applicationId/bans"
          params={{ applicationId: application.id }}
          search={{ q: value }}
        >
          <Mono>{value}</Mono>
        </Link>
      ))}
      <More total={bans.totalCount} shown={bans.edges.length} />
    </span>
  );
}

const More = ({ total, shown }: { readonly total: number; readonly shown: number }) =>
  total > shown ? <Dim>and {numberText(total - shown)} more</Dim> : null;
