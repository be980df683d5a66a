import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import type { LicenseDeviceFragment } from '../../generated/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import fieldStyles from '../../ui/field.module.css';
import { Dim, Hidden, Mono } from '../../ui/text.tsx';
import { tell, tellError } from '../../ui/toast.ts';
import { deviceName } from './device-name.ts';
import styles from './license.module.css';

const LicenseRenameDevice = graphql(`
  mutation LicenseRenameDevice($input: RenameDeviceInput!) {
    renameDevice(input: $input) {
      device {
        id
        name
      }
    }
  }
`);

interface DeviceTitleProps {
  readonly licenseId: string;
  readonly device: LicenseDeviceFragment;
}

/** The name of a device, which is changed in place. */
export function DeviceTitle({ licenseId, device }: DeviceTitleProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const change = useChange(LicenseRenameDevice);
  const rename = (name: string | null) =>
    change.mutateAsync({ input: { licenseId, deviceId: device.id, name } });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (draft === null || change.isPending) return;
    const before = device.name ?? null;
    rename(draft.trim() === '' ? null : draft.trim()).then(() => {
      setDraft(null);
      tell('Device renamed', {
        label: 'Undo',
        run: () => void rename(before).then(() => tell('Name restored'), tellError),
      });
    }, tellError);
  };
  if (draft !== null) {
    return (
      <form className={styles.rename} onSubmit={submit}>
        <input
          className={classNames(fieldStyles.input, styles.renameInput)}
          aria-label={`Name of ${deviceName(device)}`}
          maxLength={64}
          value={draft}
          // biome-ignore lint/a11y/noAutofocus: the button that was pressed gave its place to this field.
          autoFocus
          onChange={({ target }) => setDraft(target.value)}
          onKeyDown={({ key }) => key === 'Escape' && setDraft(null)}
        />
        <Button small type="submit" look="primary" busy={change.isPending}>
          Save
        </Button>
        <Button small onClick={() => setDraft(null)}>
          Cancel
        </Button>
      </form>
    );
  }
  return (
    <span className={styles.device}>
      <span className={styles.deviceName} title={device.hwid ?? undefined}>
        {device.name ?? (device.hwid ? <Mono>{device.hwid}</Mono> : 'Known by hash only')}
      </span>
      <span className={styles.deviceHwid}>
        <Dim>
          {device.platform}
          {device.platform && device.name && ' · '}
          {device.name && (device.hwid ? <Mono>{device.hwid}</Mono> : 'HWID known by hash only')}
          {!device.name && !device.hwid && ' bound by an offline lease'}
        </Dim>
      </span>
      {device.state === 'active' && (
        <Button
          small
          look="quiet"
          className={styles.renameButton}
          onClick={() => setDraft(device.name ?? '')}
        >
          Rename<Hidden> {deviceName(device)}</Hidden>
        </Button>
      )}
    </span>
  );
}
