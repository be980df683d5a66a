import { issueFor } from '../../api/issue-for.ts';
import { MovesField } from '../../terms/moves-field.tsx';
import { OptionalDurationField } from '../../terms/optional-duration-field.tsx';
import { SelfServiceField } from '../../terms/self-service-field.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { Card, FieldPair, Stack } from '../../ui/page.tsx';
import type { PolicyPartProps } from './policy-form.tsx';

export const DevicesCard = ({ values, set, error }: PolicyPartProps) => (
  <Card title="Devices">
    <Stack>
      <FieldPair>
        <NumberField
          label="Device limit"
          hint="How many devices may be bound at a time: 1 to 1,000."
          min={1}
          max={1_000}
          value={values.deviceLimit}
          onChange={(deviceLimit) => set({ deviceLimit })}
          error={issueFor(error, 'deviceLimit')}
        />
        <OptionalDurationField
          label="Idle release"
          hint="A device that was not used for so long gives its place to a new one."
          none="Never"
          suggested={2_592_000}
          value={values.releaseIdleAfterSeconds}
          onChange={(releaseIdleAfterSeconds) => set({ releaseIdleAfterSeconds })}
          error={issueFor(error, 'releaseIdleAfterSeconds')}
        />
      </FieldPair>
      <SelfServiceField
        value={values.selfService}
        onChange={(selfService) => set({ selfService })}
        error={issueFor(error, 'selfService')}
      />
      <FieldPair>
        <OptionalDurationField
          label="Cooldown"
          hint="How long a customer waits after a move for the next one."
          none="None"
          suggested={86_400}
          value={values.cooldownSeconds}
          onChange={(cooldownSeconds) => set({ cooldownSeconds })}
          error={issueFor(error, 'cooldownSeconds')}
        />
        <Stack>
          <MovesField value={values.moves} onChange={(moves) => set({ moves })} error={error} />
        </Stack>
      </FieldPair>
    </Stack>
  </Card>
);
