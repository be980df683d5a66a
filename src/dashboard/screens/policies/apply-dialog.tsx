import { useId, useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import type { ApplyPolicyInput } from '../../generated/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceField } from '../../ui/choice-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { numberText } from '../../ui/format.ts';
import { Notice, Problem } from '../../ui/page.tsx';
import { ApplyOutcome } from './apply-outcome.tsx';
import type { NamedPolicy } from './delete-policy-dialog.tsx';

const ApplyPolicy = graphql(`
  mutation PolicyApply($input: ApplyPolicyInput!) {
    applyPolicy(input: $input) {
      ...PolicyApplyOutcome
      dryRun
      changed
    }
  }
`);

type Which = 'own' | 'tag' | 'all';

const choices = [
  { value: 'own', label: 'Licenses of this policy', hint: 'Those that it created, or was applied to last.' },
  { value: 'tag', label: 'Licenses with a tag' },
  { value: 'all', label: 'All licenses of the application', hint: 'At most 10,000 at a time.' },
] as const satisfies readonly { value: Which; label: string; hint?: string }[];

const filterOf = (which: Which, tag: string): Pick<ApplyPolicyInput, 'filter'> =>
  which === 'own' ? {} : { filter: which === 'tag' ? { tag: tag.trim() } : {} };

interface ApplyDialogProps {
  readonly policy: NamedPolicy;
  /** Whether the form has changes that are not saved. */
  readonly isChanged: boolean;
  readonly onClose: () => void;
}

/** Copies the policy's values to licenses that exist: choose, look at a preview, run. */
export function ApplyDialog({ policy, isChanged, onClose }: ApplyDialogProps) {
  const { id: policyId, applicationId, name } = policy;
  const form = useId();
  const [which, setWhich] = useState<Which>('own');
  const [tag, setTag] = useState('');
  const apply = useChange(ApplyPolicy);
  const outcome = apply.data?.applyPolicy ?? null;
  const send = (dryRun: boolean) =>
    apply.mutate({ input: { applicationId, policyId, dryRun, ...filterOf(which, tag) } });
  const isRun = outcome !== null && !outcome.dryRun;
  return (
    <Dialog
      title={isRun ? `“${name}” was applied` : `Apply “${name}” to licenses`}
      wide
      onClose={onClose}
      footer={
        isRun ? (
          <Button look="primary" onClick={onClose}>
            Close
          </Button>
        ) : outcome === null ? (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button look="primary" type="submit" form={form} busy={apply.isPending}>
              Preview
            </Button>
          </>
        ) : (
          <>
            <Button onClick={() => apply.reset()}>Back</Button>
            {outcome.changed > 0 && (
              <Button look="primary" busy={apply.isPending} onClick={() => send(false)}>
                Apply to {numberText(outcome.changed)} {outcome.changed === 1 ? 'license' : 'licenses'}
              </Button>
            )}
          </>
        )
      }
    >
      {isChanged && <Notice>The changes in the form are not saved yet, so they are not applied.</Notice>}
      {outcome === null ? (
        <form
          id={form}
          onSubmit={(event) => {
            event.preventDefault();
            send(true);
          }}
        >
          <ChoiceField
            label="To which licenses"
            value={which}
            options={choices}
            onChange={setWhich}
            hint="All values are copied except when the term starts, the key mask, and the duration of licenses whose term has started: their expiry stays. A lower device limit releases no device. Tags and notes stay."
          />
          {which === 'tag' && <TextField label="Tag" required maxLength={64} value={tag} onChange={setTag} />}
        </form>
      ) : (
        <ApplyOutcome outcome={outcome} applicationId={applicationId} />
      )}
      {apply.isPending && outcome !== null && <p role="status">Applying. This can take a minute.</p>}
      {apply.error && <Problem error={apply.error} />}
    </Dialog>
  );
}
