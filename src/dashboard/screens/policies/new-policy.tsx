import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { useApplicationName } from '../../shell/session.ts';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { LeaveGuard } from '../../ui/leave-guard.tsx';
import { ButtonRow, PageHeader } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import { changedMembers, isEmptyChange, useDraft } from '../../ui/use-draft.ts';
import styles from './policies.module.css';
import { PolicyForm } from './policy-form.tsx';
import { inputOf, newPolicyValues } from './policy-values.ts';

const CreatePolicy = graphql(`
  mutation NewPolicyCreate($input: CreatePolicyInput!) {
    createPolicy(input: $input) {
      policy {
        id
        name
      }
    }
  }
`);

export function NewPolicy() {
  const { applicationId } = useParams({ from: '/shell/applications/$applicationId/policies/new' });
  const navigate = useNavigate();
  const draft = useDraft(newPolicyValues);
  const create = useChange(CreatePolicy, {
    onDone: ({ createPolicy }) => {
      if (!createPolicy) return;
      tell(`Policy “${createPolicy.policy.name}” created`);
      void navigate({
        to: '/applications/$applicationId/policies/$policyId',
        params: { applicationId, policyId: createPolicy.policy.id },
        ignoreBlocker: true,
      });
    },
  });
  const isChanged = !isEmptyChange(changedMembers(inputOf(newPolicyValues), inputOf(draft.value)));
  const applicationName = useApplicationName(applicationId);
  return (
    <>
      <Breadcrumb applicationId={applicationId} applicationName={applicationName}>
        <Link to="/applications/$applicationId/policies" params={{ applicationId }}>
          Policies
        </Link>
      </Breadcrumb>
      <PageHeader title="New policy" sub="A named set of values for new licenses" />
      <PolicyForm
        values={draft.value}
        set={draft.set}
        error={create.error}
        suggestsCode
        onSubmit={() => create.mutate({ input: { applicationId, ...inputOf(draft.value) } })}
        actions={
          <div className={styles.actions}>
            <ButtonRow>
              <Button look="primary" type="submit" busy={create.isPending}>
                Create policy
              </Button>
              <ButtonLink to="/applications/$applicationId/policies" params={{ applicationId }}>
                Cancel
              </ButtonLink>
            </ButtonRow>
          </div>
        }
      />
      <LeaveGuard isActive={isChanged && !create.isPending} />
    </>
  );
}
