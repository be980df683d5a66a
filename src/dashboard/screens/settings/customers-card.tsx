import { issueFor } from '../../api/issue-for.ts';
import { CheckField } from '../../ui/field.tsx';
import { Card, Stack } from '../../ui/page.tsx';
import type { SettingsPartProps } from './settings-form.tsx';

export const CustomersCard = ({ values, set, error }: SettingsPartProps) => (
  <Card title="Devices and users">
    <Stack>
      <CheckField
        label="Bind licenses to devices"
        hint="A license is bound to the first devices that use it, as many as its device limit says. Off: a key works on any number of devices, and customers have nothing to move."
        checked={values.hwidLockEnabled}
        onChange={(hwidLockEnabled) => set({ hwidLockEnabled })}
        error={issueFor(error, 'hwidLockEnabled')}
      />
      <CheckField
        label="Users can register themselves"
        hint="In your program, with a username and a password. Off: only you create users."
        checked={values.registrationEnabled}
        onChange={(registrationEnabled) => set({ registrationEnabled })}
        error={issueFor(error, 'registrationEnabled')}
      />
      <CheckField
        label="A license key is required to register"
        hint="Also for users that you create. Off: anyone who has your program can create an account."
        checked={values.requireLicenseToRegister}
        onChange={(requireLicenseToRegister) => set({ requireLicenseToRegister })}
        error={issueFor(error, 'requireLicenseToRegister')}
      />
    </Stack>
  </Card>
);
