import { useNavigate } from '@tanstack/react-router';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Card, PageHeader, Stack } from '../../ui/page.tsx';
import { ApplicationForm } from '../applications/application-form.tsx';
import { createApplicationCurl } from '../applications/curl.ts';
import { FirstSteps } from '../applications/first-steps.tsx';

/** The overview of an account without applications. */
export function FirstRun() {
  const navigate = useNavigate();
  return (
    <>
      <PageHeader title="Overview" sub="Three steps to the first license check: step 1 of 3" />
      <FirstSteps current={1} />
      <Stack>
        <Card title="Create an application">
          <ApplicationForm
            onCreated={(applicationId) =>
              navigate({ to: '/applications/$applicationId/sdk', params: { applicationId } })
            }
          />
        </Card>
        <Card title="The same at a terminal">
          <CodeBlock code={createApplicationCurl()} label="Command that creates an application" />
        </Card>
      </Stack>
    </>
  );
}
