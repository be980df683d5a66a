import { issueFor } from '../../api/issue-for.ts';
import { EntitlementsField } from '../../terms/entitlements-field.tsx';
import { MetadataFields } from '../../terms/metadata-fields.tsx';
import { MovesField } from '../../terms/moves-field.tsx';
import { OptionalDurationField } from '../../terms/optional-duration-field.tsx';
import { SelfServiceField } from '../../terms/self-service-field.tsx';
import { DurationField } from '../../ui/duration-field.tsx';
import { TextField } from '../../ui/field.tsx';
import { MomentField } from '../../ui/moment-field.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { FieldPair } from '../../ui/page.tsx';
import type { LicenseData } from './license-data.ts';
import type { TermsForm } from './terms-form.ts';

interface TermsFieldsProps {
  readonly license: LicenseData;
  readonly form: TermsForm;
  readonly onChange: (form: TermsForm) => void;
  readonly error: unknown;
  readonly showsIssues: boolean;
}

export function TermsFields({ license, form, onChange, error, showsIssues }: TermsFieldsProps) {
  const set = (part: Partial<TermsForm>) => onChange({ ...form, ...part });
  const issue = (member: string) => issueFor(error, member);
  const hasTerm = Boolean(license.activatedAt ?? license.expiresAt);
  const days = license.application.leaseDays;
  return (
    <>
      <FieldPair>
        {hasTerm && (
          <MomentField
            label="Expires"
            hint="Empty: never. In your time zone."
            value={form.expiresAt}
            onChange={(expiresAt) => set({ expiresAt })}
            error={issue('expiresAt')}
          />
        )}
        <DurationField
          label="Grace"
          hint="How long it is still valid after its term."
          value={form.graceSeconds}
          onChange={(graceSeconds) => set({ graceSeconds })}
          error={issue('graceSeconds')}
        />
      </FieldPair>
      <FieldPair>
        <NumberField
          label="Device limit"
          hint="How many devices may be bound at a time. Lowering it releases none."
          min={1}
          max={1000}
          value={form.deviceLimit}
          onChange={(deviceLimit) => set({ deviceLimit })}
          error={issue('deviceLimit')}
        />
        <OptionalDurationField
          label="Release idle devices after"
          hint="A device that was not used for so long gives its place to a new one."
          none="Never"
          suggested={7_776_000}
          value={form.releaseIdleAfterSeconds}
          onChange={(releaseIdleAfterSeconds) => set({ releaseIdleAfterSeconds })}
          error={issue('releaseIdleAfterSeconds')}
        />
      </FieldPair>
      <SelfServiceField
        value={form.selfService}
        onChange={(selfService) => set({ selfService })}
        error={issue('selfService')}
      />
      {form.selfService !== 'off' && (
        <>
          <MovesField value={form.moves} onChange={(moves) => set({ moves })} error={error} />
          <DurationField
            label="Cooldown"
            hint="How long a customer waits after a move for the next one."
            value={form.cooldownSeconds}
            onChange={(cooldownSeconds) => set({ cooldownSeconds })}
            error={issue('cooldownSeconds')}
          />
        </>
      )}
      <OptionalDurationField
        label="Lease term"
        hint="How long a program continues without the network: an hour to 30 days."
        none={`The application's: ${days} ${days === 1 ? 'day' : 'days'}`}
        suggested={days * 86_400}
        value={form.leaseSeconds}
        onChange={(leaseSeconds) => set({ leaseSeconds })}
        error={issue('leaseSeconds')}
      />
      <EntitlementsField
        rows={form.entitlements}
        onChange={(entitlements) => set({ entitlements })}
        error={error}
        showsIssues={showsIssues}
      />
      <MetadataFields
        rows={form.metadata}
        onChange={(metadata) => set({ metadata })}
        error={error}
        showsIssues={showsIssues}
      />
      <TextField
        label="Tags"
        hint="Separated by commas; at most 20."
        value={form.tags}
        onChange={(tags) => set({ tags })}
        error={issue('tags')}
      />
    </>
  );
}
