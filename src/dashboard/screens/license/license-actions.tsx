import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { MenuItem, MenuSeparator } from '../../ui/menu-items.tsx';
import type { Act } from './acts.ts';
import styles from './license.module.css';
import type { LicenseData } from './license-data.ts';
import type { Suspension } from './use-suspension.ts';

interface LicenseActionsProps {
  readonly license: LicenseData;
  readonly suspension: Suspension;
  readonly onAct: (act: Act) => void;
}

/** What can be done with a license in its state. On narrow screens they stay at the bottom of the screen. */
export function LicenseActions({ license, suspension, onAct }: LicenseActionsProps) {
  const isBanned = license.status === 'banned';
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div className={styles.actions} role="group" aria-label="Actions">
      {license.status === 'suspended' ? (
        <Button busy={suspension.isBusy} onClick={suspension.reinstate}>
          Reinstate
        </Button>
      ) : (
        !isBanned && <Button onClick={() => onAct('suspend')}>Suspend…</Button>
      )}
      {!isBanned && <Button onClick={() => onAct('renew')}>Renew…</Button>}
      {isBanned ? (
        <Button onClick={() => onAct('unban')}>Unban…</Button>
      ) : (
        <Button onClick={() => onAct('ban')}>Ban…</Button>
      )}
      <Menu trigger={<Button>More</Button>}>
        <MenuItem onSelect={() => onAct('terms')}>Edit terms…</MenuItem>
        <MenuItem onSelect={() => onAct('tier')}>Change tier…</MenuItem>
        <MenuItem onSelect={() => onAct('policy')}>Apply policy…</MenuItem>
        <MenuSeparator />
        <MenuItem onSelect={() => onAct('rotate')}>Rotate key…</MenuItem>
        <MenuItem disabled={license.deviceCount === 0 || isBanned} onSelect={() => onAct('reset')}>
          Reset devices…
        </MenuItem>
        <MenuItem onSelect={() => onAct('lease')}>Issue offline lease…</MenuItem>
        <MenuSeparator />
        <MenuItem danger onSelect={() => onAct('delete')}>
          Delete…
        </MenuItem>
      </Menu>
    </div>
  );
}
