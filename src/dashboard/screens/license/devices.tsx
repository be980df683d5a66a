import { useState } from 'react';
import { readFragment } from '../../generated/fragment-masking.ts';
import { Button } from '../../ui/button.tsx';
import { numberText } from '../../ui/format.ts';
import { Card, Notice } from '../../ui/page.tsx';
import { SimpleTable } from '../../ui/simple-table.tsx';
import { Dim } from '../../ui/text.tsx';
import type { Act } from './acts.ts';
import { deviceColumns } from './device-columns.tsx';
import { LicenseDevice, useDevices } from './device-data.ts';
import styles from './license.module.css';
import type { LicenseData } from './license-data.ts';
import { ReleaseDialog } from './release-dialog.tsx';

interface DevicesProps {
  readonly license: LicenseData;
  readonly onAct: (act: Act) => void;
}

/** Released devices are rarely wanted; the newest are shown. */
const shownReleased = 3;

export function Devices({ license, onAct }: DevicesProps) {
  const { active, activeCount, released } = useDevices(license.id);
  const [showsAll, setShowsAll] = useState(false);
  const [leavingId, setLeavingId] = useState<string | null>(null);
  const bound = readFragment(LicenseDevice, active);
  const gone = readFragment(LicenseDevice, released);
  const rows = [...bound, ...(showsAll ? gone : gone.slice(0, shownReleased))];
  const leaving = bound.find(({ id }) => id === leavingId);
  return (
    <Card
      title={<span id="devices">Devices</span>}
      aside={
        <Dim>
          {numberText(activeCount)} of {numberText(license.deviceLimit)}
        </Dim>
      }
    >
      {license.overLimit && (
        <div className={styles.above}>
          <Notice>
            More devices are bound than the limit of {license.deviceLimit} allows, so no other one is bound.
            Release devices, or raise the limit.
          </Notice>
        </div>
      )}
      {rows.length === 0 ? (
        <Dim>
          {license.application.hwidLockEnabled
            ? 'No device yet. The first validation binds one.'
            : 'This application does not bind licenses to devices.'}
        </Dim>
      ) : (
        <div className={styles.devices}>
          <SimpleTable
            label="Devices"
            rows={rows}
            keyOf={({ id }) => id}
            columns={deviceColumns({
              licenseId: license.id,
              onRelease: setLeavingId,
            })}
          />
        </div>
      )}
      {activeCount > bound.length && (
        <p className={styles.below}>
          <Dim>The newest {bound.length} are shown.</Dim>{' '}
          <Button small look="quiet" onClick={() => onAct('reset')}>
            Reset all devices…
          </Button>
        </p>
      )}
      {gone.length > shownReleased && (
        <div className={styles.below}>
          <Button small look="quiet" aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? 'Show fewer released devices' : `Show all ${gone.length} released devices`}
          </Button>
        </div>
      )}
      {leaving && <ReleaseDialog license={license} device={leaving} onClose={() => setLeavingId(null)} />}
    </Card>
  );
}
