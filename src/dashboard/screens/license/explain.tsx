import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { formError } from '../../api/form-error.ts';
import { queryOf } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import type { LicenseExplainQueryVariables } from '../../generated/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Loading, Problem } from '../../ui/page.tsx';
import type { Act } from './acts.ts';
import styles from './explain.module.css';
import { ExplainForm } from './explain-form.tsx';
import { ExplanationView } from './explanation-view.tsx';
import type { LicenseData } from './license-data.ts';

const LicenseExplain = graphql(`
  query LicenseExplain(
    $applicationId: ID
    $licenseId: ID
    $logEntryId: ID
    $hwid: String
    $ip: String
    $version: String
    $at: DateTime
  ) {
    explainLicense(
      applicationId: $applicationId
      licenseId: $licenseId
      logEntryId: $logEntryId
      hwid: $hwid
      ip: $ip
      version: $version
      at: $at
    ) {
      ...LicenseExplanation
    }
  }
`);

interface ExplainProps {
  readonly license: LicenseData;
  /** The refusal that is asked about; null if none is. */
  readonly logEntryId: string | null;
  readonly onForget: () => void;
  readonly onAct: (act: Act) => void;
  readonly onReinstate: () => void;
}

/** Why a client is, was or would be refused. The answer is read again when the license changes. */
export function Explain({ license, logEntryId, onForget, onAct, onReinstate }: ExplainProps) {
  const [asked, setAsked] = useState<LicenseExplainQueryVariables | null>(null);
  const section = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (logEntryId === null) return;
    section.current?.scrollIntoView({ block: 'start' });
    section.current?.focus({ preventScroll: true });
  }, [logEntryId]);
  const names = { applicationId: license.application.id, licenseId: license.id };
  const question = logEntryId === null ? asked : { licenseId: license.id, logEntryId };
  const { data, error, isFetching, refetch } = useQuery({
    ...queryOf(LicenseExplain, question ?? {}, ['license', 'device', 'ban', 'application']),
    enabled: question !== null,
  });
  const ask = (next: LicenseExplainQueryVariables) => {
    // The same question again wants an answer of now.
    if (JSON.stringify(next) === JSON.stringify(asked)) void refetch();
    setAsked(next);
  };
  const explanation = question === null ? null : data?.explainLicense;
  return (
    <div ref={section} tabIndex={-1} className={styles.section}>
      <Card
        title={logEntryId === null ? 'Explain' : 'Explain a refusal of the log'}
        aside={
          logEntryId !== null && (
            <Button small onClick={onForget}>
              Ask something else
            </Button>
          )
        }
      >
        {logEntryId === null && (
          <ExplainForm
            license={license}
            isBusy={isFetching && question !== null}
            error={error}
            onAsk={(facts) => ask({ ...names, ...facts })}
          />
        )}
        <div aria-live="polite">
          {error && formError(error, 'hwid', 'ip', 'version', 'at') && (
            <Problem error={error} onRetry={() => void refetch()} />
          )}
          {question !== null && !explanation && !error && <Loading />}
          {explanation && !error && (
            <ExplanationView
              explanation={explanation}
              license={license}
              question={question ?? {}}
              onAct={onAct}
              onReinstate={onReinstate}
            />
          )}
        </div>
      </Card>
    </div>
  );
}
