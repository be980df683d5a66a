import { Link, useParams } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { NotFound } from '../../shell/not-found.tsx';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, Columns, Facts, Loading, PageHeader, Stack } from '../../ui/page.tsx';
import { LicenseStatusBadge } from '../../ui/status.tsx';
import { Dim, Mono } from '../../ui/text.tsx';
import { Moment } from '../../ui/time.tsx';
import { type UserData, useUser } from './user-data.ts';
import { DeleteUserDialog, ResetUserDialog } from './user-dialogs.tsx';
import { UserLog } from './user-log.tsx';

export function User() {
  const { applicationId, userId } = useParams({ from: '/shell/applications/$applicationId/users/$userId' });
  const user = useUser(userId);
  if (user?.application.id !== applicationId) return <NotFound />;
  return <UserScreen key={userId} user={user} />;
}

function UserScreen({ user }: { readonly user: UserData }) {
  const { application, username } = user;
  const [act, setAct] = useState<'reset' | 'delete' | null>(null);
  const close = () => setAct(null);
  return (
    <>
      <Breadcrumb applicationId={application.id} applicationName={application.name}>
        <Link to="/applications/$applicationId/users" params={{ applicationId: application.id }}>
          Users
        </Link>
      </Breadcrumb>
      <PageHeader title={username}>
        {user.lastHwid && <Button onClick={() => setAct('reset')}>Reset device…</Button>}
        <Button look="danger" onClick={() => setAct('delete')}>
          Delete…
        </Button>
      </PageHeader>
      <Columns>
        <Stack>
          <Suspense fallback={<Loading />}>
            <UserLog applicationId={application.id} userId={user.id} />
          </Suspense>
        </Stack>
        <UserFacts user={user} />
      </Columns>
      {act === 'reset' && <ResetUserDialog user={user} onClose={close} />}
      {act === 'delete' && <DeleteUserDialog user={user} onClose={close} />}
    </>
  );
}

const UserFacts = ({ user }: { readonly user: UserData }) => (
  <Card title="User">
    <Facts
      facts={[
        ['Email', user.email ?? <Dim key="email">None</Dim>],
        ['License', <UserLicense key="license" user={user} />],
        ['Tier', user.subscriptionTier?.toLocaleString('en')],
        ['Last device', user.lastHwid ? <Mono key="hwid">{user.lastHwid}</Mono> : <Dim key="hwid">None</Dim>],
        ['Last address', user.lastIp ? <Mono key="ip">{user.lastIp}</Mono> : <Dim key="ip">None</Dim>],
        ['Created', <Moment key="created" at={user.createdAt} />],
        ['Changed', <Moment key="changed" at={user.updatedAt} />],
      ]}
    />
  </Card>
);

function UserLicense({ user: { application, license } }: { readonly user: UserData }) {
  if (!license) return <Dim>None</Dim>;
  return (
    <>
      <Link
        to="/applications/$applicationId/licenses/$licenseId"
        params={{ applicationId: application.id, licenseId: license.id }}
      >
        <Mono>{license.keyPrefix}…</Mono>
      </Link>{' '}
      <LicenseStatusBadge {...license} />
    </>
  );
}
