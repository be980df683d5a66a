import { issueFor } from '../../api/issue-for.ts';
import { OptionalDurationField } from '../../terms/optional-duration-field.tsx';
import { ChoiceField } from '../../ui/choice-field.tsx';
import { Card, FieldPair, Stack } from '../../ui/page.tsx';
import type { PolicyPartProps } from './policy-form.tsx';

export const TermCard = ({ values, set, error }: PolicyPartProps) => (
  <Card title="Term">
    <Stack>
      <FieldPair>
        <OptionalDurationField
          label="Duration"
          hint="How long a license is valid. A year is 365 days, a month 30."
          none="Unlimited"
          suggested={31_536_000}
          value={values.durationSeconds}
          onChange={(durationSeconds) => set({ durationSeconds })}
          error={issueFor(error, 'durationSeconds')}
        />
        <OptionalDurationField
          label="Grace"
          hint="How long a license is still valid after its term, so that a late renewal does not lock customers out."
          none="None"
          suggested={604_800}
          value={values.graceSeconds}
          onChange={(graceSeconds) => set({ graceSeconds })}
          error={issueFor(error, 'graceSeconds')}
        />
      </FieldPair>
      <ChoiceField
        label="The term starts"
        value={values.startsAt}
        options={[
          {
            value: 'first_use',
            label: 'At first use',
            hint: 'The license is unused until a program validates its key. For keys in stock.',
          },
          {
            value: 'creation',
            label: 'At creation',
            hint: 'The license is active at once. For subscriptions that begin with the payment.',
          },
        ]}
        onChange={(startsAt) => set({ startsAt })}
        error={issueFor(error, 'startsAt')}
      />
    </Stack>
  </Card>
);
