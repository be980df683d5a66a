import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { present } from '../../api/present.ts';
import { useRead } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card, Columns, Facts, PageHeader, Stack } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Mono } from '../../ui/text.tsx';
import { FirstSteps } from '../applications/first-steps.tsx';
import { LastValidation } from './last-validation.tsx';
import { OtherLanguages } from './other-languages.tsx';
import { browserProgram, nodeProgram, typeScriptProgram } from './programs.ts';
import { ShownProgram } from './shown-program.tsx';
import { useLastValidation } from './use-last-validation.ts';

const SdkApplication = graphql(`
  query SdkApplication($applicationId: ID!) {
    application(id: $applicationId) {
      name
      sdkHint {
        baseUrl
        appId
        version
        publicKeyB64
        protocol
      }
      licenses(first: 1) {
        totalCount
      }
    }
  }
`);

type Runtime = 'node' | 'typescript' | 'browser' | 'other';

export function Sdk() {
  const { applicationId } = useParams({ from: '/shell/applications/$applicationId/sdk' });
  const { application } = useRead(SdkApplication, { applicationId }, ['application', 'license']);
  const { name, sdkHint, licenses } = present(application);
  const validation = useLastValidation(applicationId);
  const [runtime, setRuntime] = useState<Runtime>('node');
  const hasKeys = licenses.totalCount > 0;
  const isFirstRun = validation.last === null;
  return (
    <>
      <PageHeader
        title="SDK"
        sub={
          isFirstRun ? `${name}: step ${hasKeys ? 3 : 2} of 3` : `${name} · a license check in your program`
        }
      >
        {!hasKeys && (
          <ButtonLink to="/applications/$applicationId/mint" params={{ applicationId }} look="primary">
            Mint a key
          </ButtonLink>
        )}
      </PageHeader>
      {isFirstRun && <FirstSteps current={hasKeys ? 3 : 2} />}
      <Columns>
        <Card title="A complete program">
          <Tabs
            label="Language"
            value={runtime}
            onChange={setRuntime}
            tabs={[
              { value: 'node', label: 'Node.js', content: <ShownProgram {...nodeProgram(sdkHint)} /> },
              {
                value: 'typescript',
                label: 'TypeScript',
                content: <ShownProgram {...typeScriptProgram(sdkHint)} />,
              },
              { value: 'browser', label: 'Browser', content: <ShownProgram {...browserProgram(sdkHint)} /> },
              { value: 'other', label: 'Other languages', content: <OtherLanguages {...sdkHint} /> },
            ]}
          />
        </Card>
        <Stack>
          <LastValidation applicationId={applicationId} hasKeys={hasKeys} {...validation} />
          <Card title="Built into the program">
            <Facts
              facts={[
                ['Base URL', <Mono key="url">{sdkHint.baseUrl}</Mono>],
                ['Application id', <Mono key="id">{sdkHint.appId}</Mono>],
                ['Version', <Mono key="version">{sdkHint.version}</Mono>],
                ['Public key', <Mono key="public">{sdkHint.publicKeyB64}</Mono>],
                ['Protocol', sdkHint.protocol],
              ]}
            />
          </Card>
        </Stack>
      </Columns>
    </>
  );
}
