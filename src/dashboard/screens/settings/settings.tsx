import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { present } from '../../api/present.ts';
import { useRead } from '../../api/query.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { Columns, PageHeader, Stack } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { ApplicationCards } from './application-cards.tsx';
import { SettingsFields, SettingsScreen, valuesOf } from './settings-data.ts';
import { SettingsForm } from './settings-form.tsx';

export function Settings() {
  const { applicationId } = useParams({ from: '/shell/applications/$applicationId/settings' });
  const application = present(useRead(SettingsScreen, { applicationId }, ['application']).application);
  const fields = readFragment(SettingsFields, application);
  const current = useMemo(() => valuesOf(fields), [fields]);
  return (
    <>
      <PageHeader
        title="Settings"
        sub={application.name}
        badge={fields.status === 'disabled' && <Status tone="bad">Disabled</Status>}
      />
      <Columns>
        <SettingsForm key={applicationId} applicationId={applicationId} current={current} />
        <Stack>
          <ApplicationCards application={application} />
        </Stack>
      </Columns>
    </>
  );
}
