import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { present } from '../../api/present.ts';
import { useRead } from '../../api/query.ts';
import { useChange } from '../../api/use-change.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import { useApplicationName } from '../../shell/session.ts';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { LeaveGuard } from '../../ui/leave-guard.tsx';
import { PageHeader } from '../../ui/page.tsx';
import { SaveBar, unsavedText } from '../../ui/save-bar.tsx';
import { Mono } from '../../ui/text.tsx';
import { Ago } from '../../ui/time.tsx';
import { tell } from '../../ui/toast.ts';
import { changedMembers, isEmptyChange, useDraft } from '../../ui/use-draft.ts';
import { ApplyDialog } from './apply-dialog.tsx';
import { DeletePolicyDialog } from './delete-policy-dialog.tsx';
import { PolicyFields } from './policy-fields.ts';
import { PolicyForm } from './policy-form.tsx';
import { inputOf, valuesOf } from './policy-values.ts';

const PolicyScreen = graphql(`
  query PolicyScreen($applicationId: ID!, $policyId: ID!) {
    policy(applicationId: $applicationId, policyId: $policyId) {
      updatedAt
      ...PolicyFields
    }
  }
`);

const UpdatePolicy = graphql(`
  mutation PolicyUpdate($input: UpdatePolicyInput!) {
    updatePolicy(input: $input) {
      policy {
        id
      }
    }
  }
`);

export function Policy() {
  const { applicationId, policyId } = useParams({
    from: '/shell/applications/$applicationId/policies/$policyId',
  });
  const read = present(useRead(PolicyScreen, { applicationId, policyId }, ['policy']).policy);
  const policy = readFragment(PolicyFields, read);
  const current = useMemo(() => valuesOf(policy), [policy]);
  const draft = useDraft(current);
  const [open, setOpen] = useState<'apply' | 'delete' | null>(null);
  const changes = changedMembers(inputOf(current), inputOf(draft.value));
  const isChanged = !isEmptyChange(changes);
  const update = useChange(UpdatePolicy, {
    onDone: () => {
      draft.saved();
      tell('Policy saved. Licenses that exist keep their values.');
    },
  });
  const applicationName = useApplicationName(applicationId);
  return (
    <>
      <Breadcrumb applicationId={applicationId} applicationName={applicationName}>
        <Link to="/applications/$applicationId/policies" params={{ applicationId }}>
          Policies
        </Link>
      </Breadcrumb>
      <PageHeader
        title={policy.name}
        sub={
          <>
            <Mono>{policy.code}</Mono> · updated <Ago at={read.updatedAt} />
          </>
        }
      >
        <Button look="danger" onClick={() => setOpen('delete')}>
          Delete…
        </Button>
        <Button onClick={() => setOpen('apply')}>Apply to licenses…</Button>
        <ButtonLink
          to="/applications/$applicationId/mint"
          params={{ applicationId }}
          search={{ policy: policyId }}
          look="primary"
        >
          Mint with this policy
        </ButtonLink>
      </PageHeader>
      <PolicyForm
        values={draft.value}
        set={draft.set}
        error={update.error}
        onSubmit={() => isChanged && update.mutate({ input: { applicationId, policyId, ...changes } })}
        actions={
          isChanged && (
            <SaveBar
              text={unsavedText(Object.keys(changes).length)}
              busy={update.isPending}
              onDiscard={() => {
                draft.discard();
                update.reset();
              }}
            />
          )
        }
      />
      <LeaveGuard isActive={isChanged} />
      {open === 'delete' && (
        <DeletePolicyDialog policy={{ ...policy, applicationId }} onClose={() => setOpen(null)} />
      )}
      {open === 'apply' && (
        <ApplyDialog
          policy={{ ...policy, applicationId }}
          isChanged={isChanged}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}
