import { DurationField } from '../../../ui/duration-field.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { FieldPair, FormStack } from '../../../ui/page.tsx';
import type { NamedPolicy } from '../use-policies.ts';
import type { BulkDraft, BulkKind } from './acts.ts';

interface BulkParamsProps {
  readonly kind: BulkKind;
  readonly draft: BulkDraft;
  readonly policies: readonly NamedPolicy[];
  readonly onChange: (draft: BulkDraft) => void;
}

/** What an act does, and what it has to know. */
export function BulkParams({ kind, draft, policies, onChange }: BulkParamsProps) {
  const set = (change: Partial<BulkDraft>) => onChange({ ...draft, ...change });
  switch (kind) {
    case 'suspend':
      return (
        <FormStack>
          <p>Customers are refused until you reinstate the licenses. Their leases are revoked.</p>
          <TextField
            label="Reason"
            hint="For yourself: customers are not told."
            maxLength={200}
            value={draft.reason}
            onChange={(reason) => set({ reason })}
          />
          <CheckField
            label="Stop the clock"
            hint="The remaining term is kept, and goes on when the license is reinstated."
            checked={draft.stopClock}
            onChange={(stopClock) => set({ stopClock })}
          />
        </FormStack>
      );
    case 'renew':
      return (
        <FieldPair>
          <DurationField label="Renew by" value={draft.seconds} onChange={(seconds) => set({ seconds })} />
          <SelectField
            label="Counted from"
            hint="A license that was never used gets a longer term."
            value={draft.basis}
            options={[
              { value: 'from_now_if_expired', label: 'Expiry, or now if it has expired' },
              { value: 'from_expiry', label: 'Expiry' },
              { value: 'from_now', label: 'Now' },
            ]}
            onChange={(basis) => set({ basis })}
          />
        </FieldPair>
      );
    case 'tags':
      return (
        <FieldPair>
          <SelectField
            label="Do what"
            value={draft.tagAct}
            options={[
              { value: 'addTags', label: 'Add tags' },
              { value: 'removeTags', label: 'Remove tags' },
            ]}
            onChange={(tagAct) => set({ tagAct })}
          />
          <TextField
            label="Tags"
            hint="Several with commas between them."
            value={draft.tags}
            onChange={(tags) => set({ tags })}
          />
        </FieldPair>
      );
    case 'tier':
      return (
        <TextField
          label="Tier"
          hint="Your program decides what it means."
          inputMode="numeric"
          value={draft.tier}
          error={/^\d{0,9}$/.test(draft.tier) ? null : 'Use a whole number from 0.'}
          onChange={(tier) => set({ tier })}
        />
      );
    case 'policy':
      return (
        <SelectField
          label="Policy"
          hint={
            policies.length === 0
              ? 'This application has no policies yet.'
              : 'Its values are copied to the licenses. Terms that have started, tags and notes stay as they are.'
          }
          value={draft.policyId}
          options={[
            { value: '', label: 'Choose a policy' },
            ...policies.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(policyId) => set({ policyId })}
        />
      );
    case 'reinstate':
      return <p>The suspension ends. Stopped clocks go on.</p>;
    case 'ban':
      return (
        <p>
          Customers are refused, and leases are revoked. Devices and addresses are not banned. You can unban
          the licenses.
        </p>
      );
    case 'unban':
      return <p>The licenses are what they were before. Bans of devices and addresses stay.</p>;
    case 'delete':
      return (
        <p>
          The licenses are deleted permanently, and their keys stop working.{' '}
          <strong>This cannot be undone.</strong> To be able to take it back, suspend or ban them instead.
        </p>
      );
  }
}
