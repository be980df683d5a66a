import { issueFor } from '../../api/issue-for.ts';
import { ChoiceField } from '../../ui/choice-field.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card, Stack } from '../../ui/page.tsx';
import type { SettingsValues } from './settings-data.ts';
import type { SettingsPartProps } from './settings-form.tsx';

interface AccessCardProps extends SettingsPartProps {
  readonly current: SettingsValues;
}

/** Which programs the service answers. */
export const AccessCard = ({ values, set, error, current }: AccessCardProps) => (
  <Card title="Programs that are served">
    <Stack>
      <ChoiceField
        label="Status"
        value={values.status}
        options={[
          { value: 'active', label: 'Active', hint: 'Programs are served.' },
          {
            value: 'disabled',
            label: 'Disabled',
            hint: 'Every program is refused with APP_DISABLED. Licenses keep their state, and their terms go on.',
          },
        ]}
        onChange={(status) => set({ status })}
        error={issueFor(error, 'status')}
      />
      <TextField
        label="Version"
        hint={`Programs must send exactly this text. If you raise it, programs that still send ${current.version} are refused with APP_OUTDATED and asked to update.`}
        mono
        required
        maxLength={64}
        value={values.version}
        onChange={(version) => set({ version })}
        error={issueFor(error, 'version')}
      />
      <ChoiceField
        label="Protocol"
        value={values.protocol}
        options={[
          { value: 'any', label: 'Any version', hint: 'Also programs with an SDK from before version 2.' },
          {
            value: 'v2_only',
            label: 'Version 2 only',
            hint: 'Keeps keys and passwords secret even from proxies that see inside TLS. Programs of version 1 are refused with APP_OUTDATED.',
          },
        ]}
        onChange={(protocol) => set({ protocol })}
        error={issueFor(error, 'protocol')}
      />
    </Stack>
  </Card>
);
