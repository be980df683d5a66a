import { Link } from '@tanstack/react-router';
import type { Column } from '../../list/columns.ts';
import { durationText } from '../../ui/duration.ts';
import { numberText } from '../../ui/format.ts';
import { Dim, Mono } from '../../ui/text.tsx';
import { Ago } from '../../ui/time.tsx';
import styles from './policies.module.css';
import type { PolicyRow } from './policies.tsx';

const selfServiceTexts = { off: 'Off', key: 'By key', account: 'By account' } as const;

const termText = ({ durationSeconds }: PolicyRow): string =>
  durationSeconds === 0 ? 'Unlimited' : durationText(durationSeconds);

interface PolicyLinkProps {
  readonly applicationId: string;
  readonly policy: PolicyRow;
}

const PolicyLink = ({ applicationId, policy }: PolicyLinkProps) => (
  <Link to="/applications/$applicationId/policies/$policyId" params={{ applicationId, policyId: policy.id }}>
    {policy.name}
  </Link>
);

export const policyColumns = (applicationId: string): readonly Column<PolicyRow>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: (policy) => <PolicyLink applicationId={applicationId} policy={policy} />,
  },
  { id: 'code', header: 'Code', cell: ({ code }) => <Mono>{code}</Mono> },
  {
    id: 'duration',
    header: 'Duration',
    width: '190px',
    cell: (policy) => (
      <>
        {termText(policy)} <Dim>{policy.startsAt === 'creation' ? 'from creation' : 'from first use'}</Dim>
      </>
    ),
  },
  {
    id: 'tier',
    header: 'Tier',
    width: '72px',
    number: true,
    cell: ({ subscriptionTier }) => numberText(subscriptionTier),
  },
  {
    id: 'devices',
    header: 'Devices',
    width: '84px',
    number: true,
    cell: ({ deviceLimit }) => numberText(deviceLimit),
  },
  {
    id: 'grace',
    header: 'Grace',
    width: '104px',
    cell: ({ graceSeconds }) => (graceSeconds === 0 ? <Dim>None</Dim> : durationText(graceSeconds)),
  },
  {
    id: 'selfService',
    header: 'Self-service',
    width: '112px',
    cell: ({ selfService }) => (selfService === 'off' ? <Dim>Off</Dim> : selfServiceTexts[selfService]),
  },
  { id: 'updated', header: 'Updated', width: '116px', cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
];

/** A policy on a narrow screen. */
export const PolicyCard = ({ applicationId, policy }: PolicyLinkProps) => (
  <>
    <div className={styles.cardHead}>
      <PolicyLink applicationId={applicationId} policy={policy} />
      <Mono>{policy.code}</Mono>
    </div>
    <div>
      {termText(policy)}, tier {numberText(policy.subscriptionTier)}, {numberText(policy.deviceLimit)}{' '}
      {policy.deviceLimit === 1 ? 'device' : 'devices'}
      {policy.graceSeconds > 0 && `, ${durationText(policy.graceSeconds)} grace`}
    </div>
    <Dim>
      Self-service: {selfServiceTexts[policy.selfService].toLowerCase()} · updated{' '}
      <Ago at={policy.updatedAt} />
    </Dim>
  </>
);
