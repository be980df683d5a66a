import { type FormEvent, type KeyboardEvent, Suspense, useState } from 'react';
import { asApiError } from '../../api/api-error.ts';
import { issueFor } from '../../api/issue-for.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { numberText } from '../../ui/format.ts';
import { Card, FieldPair, Problem } from '../../ui/page.tsx';
import { Dim } from '../../ui/text.tsx';
import { defaultMask } from '../../vault/private-keys.ts';
import { UnlockDialog } from '../../vault/unlock-dialog.tsx';
import { AdvancedFields } from './advanced-fields.tsx';
import { draftOf, type MintDraft, problemsOf, termsOf } from './draft.ts';
import styles from './mint.module.css';
import { NoteField } from './note-field.tsx';
import { TermsFields } from './terms-fields.tsx';
import type { MintPolicy } from './use-mint-policies.ts';

interface MintFormProps {
  readonly policies: readonly MintPolicy[];
  readonly policyId: string | undefined;
  readonly accountMask: string | null;
  readonly isPrivate: boolean;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly onMint: (draft: MintDraft, policy: MintPolicy | undefined, mask: string) => void;
}

/** How many licenses, and of what terms. */
export function MintForm({
  policies,
  policyId,
  accountMask,
  isPrivate,
  isBusy,
  error,
  onMint,
}: MintFormProps) {
  const find = (id: string | undefined) => policies.find((candidate) => candidate.id === id);
  const [draft, setDraft] = useState(() => draftOf(find(policyId)));
  const [isTried, setIsTried] = useState(false);
  const [isUnlocking, setIsUnlocking] = useState(false);
  const policy = find(draft.policyId);
  const inheritedMask = policy?.keyMask ?? accountMask ?? defaultMask;
  const found = problemsOf(draft);
  // Numbers are judged at once, so that the form says what fits; the rest when the keys are to be minted.
  const problems = isTried ? found : { ...(draft.amount !== '' && found.amount && { amount: found.amount }) };
  const set = (change: Partial<MintDraft>) => setDraft((latest) => ({ ...latest, ...change }));
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    setIsTried(true);
    if (!isBusy && Object.keys(found).length === 0) onMint(draft, policy, draft.mask || inheritedMask);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    submit();
  };
  const amount = Number(draft.amount);
  return (
    <>
      <form className={styles.layout} noValidate onSubmit={submit} onKeyDown={onKeyDown}>
        {error !== null && asApiError(error).code !== 'CANCELLED' && <Problem error={error} />}
        <Card>
          <div className={styles.fields}>
            <FieldPair>
              <TextField
                label="How many keys"
                autoFocus
                inputMode="numeric"
                hint="1 to 10,000 at once."
                value={draft.amount}
                error={problems.amount ?? issueFor(error, 'amount')}
                onChange={(text) => set({ amount: text.replaceAll(/[\s,]/g, '') })}
              />
              <SelectField
                label="Policy"
                hint={
                  policies.length === 0
                    ? 'There are none yet. The terms below apply.'
                    : 'Fills in the terms below.'
                }
                value={draft.policyId}
                options={[
                  { value: '', label: 'None' },
                  ...policies.map(({ id, name }) => ({ value: id, label: name })),
                ]}
                onChange={(id) => set({ ...termsOf(find(id)), policyId: id })}
              />
            </FieldPair>
            <TermsFields
              key={draft.policyId}
              draft={draft}
              policy={policy}
              problems={problems}
              error={error}
              onChange={set}
            />
            <TextField
              label="Tags"
              hint="For your own filters, several with commas between them."
              value={draft.tags}
              error={problems.tags ?? issueFor(error, 'tags')}
              onChange={(tags) => set({ tags })}
            />
            <NoteField
              value={draft.note}
              isPrivate={isPrivate}
              error={issueFor(error, 'note')}
              onChange={(note) => set({ note })}
              onUnlock={() => setIsUnlocking(true)}
            />
            <AdvancedFields
              draft={draft}
              inheritedMask={inheritedMask}
              problems={problems}
              error={error}
              showsIssues={isTried}
              onChange={set}
            />
          </div>
        </Card>
        {isTried && (found.mask || found.entitlements) && (
          <div className={styles.error} role="alert">
            Correct the mask or the values under “Advanced” first.
          </div>
        )}
        <div className={styles.submit}>
          <Button look="primary" type="submit" busy={isBusy}>
            {isBusy
              ? 'Minting…'
              : found.amount
                ? 'Mint keys'
                : `Mint ${numberText(amount)} ${amount === 1 ? 'key' : 'keys'}`}
          </Button>
          <Dim>
            {isPrivate
              ? 'Created in this browser: the service gets only hashes.'
              : 'The keys are shown once, afterwards.'}
          </Dim>
        </div>
      </form>
      {/* Not inside the form, which React would tell of what is submitted in the dialog. */}
      <Suspense>{isUnlocking && <UnlockDialog onClose={() => setIsUnlocking(false)} />}</Suspense>
    </>
  );
}
