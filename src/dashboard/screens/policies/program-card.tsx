import { issueFor } from '../../api/issue-for.ts';
import { OptionalDurationField } from '../../terms/optional-duration-field.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { Card, Stack } from '../../ui/page.tsx';
import type { PolicyPartProps } from './policy-form.tsx';

export const ProgramCard = ({ values, set, error }: PolicyPartProps) => (
  <Card title="Program">
    <Stack>
      <NumberField
        label="Tier"
        hint="From 0; your program decides what it means."
        min={0}
        max={2_147_483_647}
        value={values.subscriptionTier}
        onChange={(subscriptionTier) => set({ subscriptionTier })}
        error={issueFor(error, 'subscriptionTier')}
      />
      <OptionalDurationField
        label="Lease duration"
        hint="How long a program may go on without the network: 1 hour to 30 days. Only if the application has leases on."
        none="As the application"
        suggested={604_800}
        value={values.leaseSeconds}
        onChange={(leaseSeconds) => set({ leaseSeconds })}
        error={issueFor(error, 'leaseSeconds')}
      />
    </Stack>
  </Card>
);
