import { useState } from 'react';
import { isEmpty, type SelectionState } from '../../list/selection.ts';
import { Button } from '../../ui/button.tsx';
import { countText, numberText } from '../../ui/format.ts';
import { Menu } from '../../ui/menu.tsx';
import { MenuItem } from '../../ui/menu-items.tsx';
import { type BulkAct, bulkActs, isDangerous } from './bulk/acts.ts';
import styles from './bulk/bulk.module.css';
import { BulkDialog } from './bulk/bulk-dialog.tsx';
import type { BulkTarget } from './bulk/send-bulk.ts';
import type { LicenseQuery } from './read-all.ts';

interface SelectionBarProps {
  readonly licenses: LicenseQuery;
  readonly selection: SelectionState;
  readonly total: { readonly count: number; readonly isExact: boolean };
}

/** What is selected, and what can be done to it. It stays in reach while the list is scrolled. */
export function SelectionBar({ licenses, selection: state, total }: SelectionBarProps) {
  const [opened, setOpened] = useState<{ readonly act: BulkAct; readonly target: BulkTarget } | null>(null);
  const { selection } = state;
  const { applicationId, q, filter } = licenses;
  const isAll = selection.kind === 'all';
  const open = (act: BulkAct) =>
    setOpened({
      act,
      target: isAll ? { filter: { ...filter, ...(q !== undefined && { q }) } } : { ids: [...selection.ids] },
    });
  return (
    <>
      {!isEmpty(selection) && (
        <section className={styles.bar} aria-label="Selection">
          <div className={styles.count}>
            <strong>
              {isAll
                ? `All ${countText(total.count, total.isExact)} selected`
                : `${numberText(selection.ids.size)} selected`}
            </strong>
            {!isAll && selection.ids.size < total.count && (
              <>
                {' · '}
                <button type="button" className={styles.quiet} onClick={state.selectAll}>
                  select all {countText(total.count, total.isExact)} that match
                </button>
              </>
            )}
            {' · '}
            <button type="button" className={styles.quiet} onClick={state.clear}>
              clear
            </button>
          </div>
          <div className={styles.acts}>
            {bulkActs.map((act) => (
              <Button key={act.kind} className={styles.act} onClick={() => open(act)}>
                {act.label}
              </Button>
            ))}
          </div>
          <div className={styles.menu}>
            <Menu trigger={<Button className={styles.act}>Change…</Button>}>
              {bulkActs.map((act) => (
                <MenuItem key={act.kind} danger={isDangerous(act.kind)} onSelect={() => open(act)}>
                  {act.label}
                </MenuItem>
              ))}
            </Menu>
          </div>
        </section>
      )}
      {opened !== null && (
        <BulkDialog
          act={opened.act}
          target={opened.target}
          applicationId={applicationId}
          licenses={licenses}
          onClose={(isChanged) => {
            setOpened(null);
            if (isChanged) state.clear();
          }}
        />
      )}
    </>
  );
}
