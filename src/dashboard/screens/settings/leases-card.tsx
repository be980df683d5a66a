import { issueFor } from '../../api/issue-for.ts';
import { CheckField } from '../../ui/field.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { Card, Stack } from '../../ui/page.tsx';
import type { SettingsPartProps } from './settings-form.tsx';

export const LeasesCard = ({ values, set, error }: SettingsPartProps) => (
  <Card title="Without a network">
    <Stack>
      <CheckField
        label="Programs get leases"
        hint="A lease is a signed text with which a program goes on without the network. On a device that is offline, a license that you ban works until its lease ends, unless the program reads the revocation list."
        checked={values.leasesEnabled}
        onChange={(leasesEnabled) => set({ leasesEnabled })}
        error={issueFor(error, 'leasesEnabled')}
      />
      <NumberField
        label="Days of a lease"
        hint="1 to 30. A policy or a license can have its own. Shorter: a ban is heard sooner. Longer: customers travel further."
        min={1}
        max={30}
        value={values.leaseDays}
        onChange={(leaseDays) => set({ leaseDays })}
        error={issueFor(error, 'leaseDays')}
      />
    </Stack>
  </Card>
);
