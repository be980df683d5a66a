import { issueFor } from '../../api/issue-for.ts';
import { durationText } from '../../ui/duration.ts';
import { DurationField } from '../../ui/duration-field.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { FieldPair } from '../../ui/page.tsx';
import type { MintDraft, MintProblems } from './draft.ts';
import type { MintPolicy } from './use-mint-policies.ts';

interface TermsFieldsProps {
  readonly draft: MintDraft;
  readonly policy: MintPolicy | undefined;
  readonly problems: MintProblems;
  readonly error: unknown;
  readonly onChange: (change: Partial<MintDraft>) => void;
}

const startText = { first_use: 'At first use', creation: 'Now' } as const;

/** The terms of the licenses. Where one is not the policy's, the policy's is shown. */
export function TermsFields({ draft, policy, problems, error, onChange }: TermsFieldsProps) {
  const differs = (isDifferent: boolean, text: string): string | undefined =>
    policy !== undefined && isDifferent ? `${policy.name}: ${text}` : undefined;
  const duration = draft.isUnlimited ? 0 : draft.durationSeconds;
  return (
    <>
      <FieldPair>
        <DurationField
          label="Duration"
          disabled={draft.isUnlimited}
          hint={differs(
            duration !== policy?.durationSeconds,
            policy?.durationSeconds ? durationText(policy.durationSeconds) : 'unlimited',
          )}
          value={draft.durationSeconds}
          error={problems.durationSeconds ?? issueFor(error, 'durationSeconds')}
          onChange={(durationSeconds) => onChange({ durationSeconds })}
        />
        <SelectField
          label="Starts"
          hint={differs(
            draft.startsAt !== policy?.startsAt,
            startText[policy?.startsAt ?? 'first_use'].toLowerCase(),
          )}
          value={draft.startsAt}
          options={[
            { value: 'first_use', label: startText.first_use },
            { value: 'creation', label: startText.creation },
          ]}
          onChange={(startsAt) => onChange({ startsAt })}
        />
      </FieldPair>
      <CheckField
        label="Unlimited: never expires"
        checked={draft.isUnlimited}
        onChange={(isUnlimited) => onChange({ isUnlimited })}
      />
      <FieldPair>
        <TextField
          label="Devices at a time"
          inputMode="numeric"
          hint={differs(Number(draft.deviceLimit) !== policy?.deviceLimit, String(policy?.deviceLimit))}
          value={draft.deviceLimit}
          error={problems.deviceLimit ?? issueFor(error, 'deviceLimit')}
          onChange={(deviceLimit) => onChange({ deviceLimit })}
        />
        <TextField
          label="Tier"
          inputMode="numeric"
          hint={
            differs(Number(draft.tier) !== policy?.subscriptionTier, String(policy?.subscriptionTier)) ??
            'Your program decides what it means.'
          }
          value={draft.tier}
          error={problems.tier ?? issueFor(error, 'subscriptionTier')}
          onChange={(tier) => onChange({ tier })}
        />
      </FieldPair>
      <DurationField
        label="Grace"
        hint={
          differs(
            draft.graceSeconds !== policy?.graceSeconds,
            policy?.graceSeconds ? durationText(policy.graceSeconds) : 'none',
          ) ?? 'How long a license stays valid after its term.'
        }
        value={draft.graceSeconds}
        error={issueFor(error, 'graceSeconds')}
        onChange={(graceSeconds) => onChange({ graceSeconds })}
      />
    </>
  );
}
