import { useNavigate } from '@tanstack/react-router';
import { useApplications } from '../../shell/session.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card, PageHeader } from '../../ui/page.tsx';
import { ApplicationForm } from './application-form.tsx';
import { FirstSteps } from './first-steps.tsx';

export function NewApplication() {
  const navigate = useNavigate();
  const isFirst = useApplications().length === 0;
  return (
    <>
      <PageHeader
        title="New application"
        sub={
          isFirst ? 'Step 1 of 3' : 'A program that you sell, with its own licenses, users and signing key'
        }
      />
      {isFirst && <FirstSteps current={1} />}
      <Card>
        <ApplicationForm
          onCreated={(applicationId) =>
            navigate({ to: '/applications/$applicationId/sdk', params: { applicationId } })
          }
        >
          {!isFirst && <ButtonLink to="/applications">Cancel</ButtonLink>}
        </ApplicationForm>
      </Card>
    </>
  );
}
