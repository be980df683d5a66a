import { type FormEvent, useState } from 'react';
import { present } from '../../api/present.ts';
import { useRead } from '../../api/query.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { FormStack, Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import type { DialogProps } from './acts.ts';
import type { LicenseData } from './license-data.ts';

const LicensePolicies = graphql(`
  query LicensePolicies($applicationId: ID!) {
    application(id: $applicationId) {
      policies(first: 200) {
        edges {
          node {
            id
            code
            name
          }
        }
      }
    }
  }
`);

const LicenseApplyPolicy = graphql(`
  mutation LicenseApplyPolicy($input: ApplyPolicyInput!) {
    applyPolicy(input: $input) {
      changed
      skippedByCode {
        code
      }
    }
  }
`);

export function PolicyDialog({ license, onClose }: DialogProps & { readonly license: LicenseData }) {
  const applicationId = license.application.id;
  const data = useRead(LicensePolicies, { applicationId }, ['policy']);
  const policies = present(data.application).policies.edges.map(({ node }) => node);
  const [policyId, setPolicyId] = useState(license.policy?.id ?? policies[0]?.id ?? '');
  const { mutate, error, isPending } = useChange(LicenseApplyPolicy, {
    onDone: ({ applyPolicy }) => {
      const result = present(applyPolicy);
      tell(result.changed > 0 ? 'Policy applied' : 'Nothing was changed: it has all values of the policy');
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPending) mutate({ input: { applicationId, policyId, ids: [license.id] } });
  };
  return (
    <Dialog
      title="Apply policy"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {policies.length === 0 ? (
            <ButtonLink
              look="primary"
              to="/applications/$applicationId/policies/new"
              params={{ applicationId }}
            >
              Create a policy
            </ButtonLink>
          ) : (
            <Button look="primary" type="submit" form="license-policy" busy={isPending}>
              Apply policy
            </Button>
          )}
        </>
      }
    >
      {policies.length === 0 ? (
        <p>This application has no policy yet.</p>
      ) : (
        <form id="license-policy" onSubmit={submit}>
          <FormStack>
            {error && <Problem error={error} />}
            <SelectField
              label="Policy"
              hint="Its values replace those of the license, also tier, entitlements and metadata. A term that has started stays as it is."
              value={policyId}
              options={policies.map(({ id, code, name }) => ({ value: id, label: `${name} (${code})` }))}
              onChange={setPolicyId}
            />
          </FormStack>
        </form>
      )}
    </Dialog>
  );
}
