import { Link, useParams } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { NotFound } from '../../shell/not-found.tsx';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { Columns, Loading, PageHeader, Stack } from '../../ui/page.tsx';
import { LicenseStatusBadge } from '../../ui/status.tsx';
import type { Act } from './acts.ts';
import { Devices } from './devices.tsx';
import { Explain } from './explain.tsx';
import styles from './license.module.css';
import { LicenseActions } from './license-actions.tsx';
import { type LicenseData, useLicense } from './license-data.ts';
import { LicenseDialogs } from './license-dialogs.tsx';
import { LicenseFacts } from './license-facts.tsx';
import { LicenseTimeline } from './license-timeline.tsx';
import { Note } from './note.tsx';
import { useSuspension } from './use-suspension.ts';

export function License() {
  const { applicationId, licenseId } = useParams({
    from: '/shell/applications/$applicationId/licenses/$licenseId',
  });
  const license = useLicense(licenseId);
  if (license?.application.id !== applicationId) return <NotFound />;
  // Another license begins with nothing open and nothing asked.
  return <LicenseScreen key={licenseId} license={license} />;
}

function LicenseScreen({ license }: { readonly license: LicenseData }) {
  const { id, application, keyPrefix } = license;
  const [act, setAct] = useState<Act | null>(null);
  const [explained, setExplained] = useState<string | null>(null);
  const suspension = useSuspension(license);
  return (
    <div className={styles.screen}>
      <Breadcrumb applicationId={application.id} applicationName={application.name}>
        <Link to="/applications/$applicationId/licenses" params={{ applicationId: application.id }}>
          Licenses
        </Link>
      </Breadcrumb>
      <PageHeader title={`${keyPrefix}…`} mono badge={<LicenseStatusBadge {...license} />}>
        <LicenseActions license={license} suspension={suspension} onAct={setAct} />
      </PageHeader>
      <Columns>
        <Stack>
          <Suspense fallback={<Loading />}>
            <Devices license={license} onAct={setAct} />
            <Explain
              license={license}
              logEntryId={explained}
              onForget={() => setExplained(null)}
              onAct={setAct}
              onReinstate={suspension.reinstate}
            />
            <LicenseTimeline licenseId={id} onExplain={setExplained} />
          </Suspense>
        </Stack>
        <Stack>
          <LicenseFacts license={license} />
          <Note license={license} />
        </Stack>
      </Columns>
      <LicenseDialogs act={act} license={license} suspension={suspension} onClose={() => setAct(null)} />
    </div>
  );
}
