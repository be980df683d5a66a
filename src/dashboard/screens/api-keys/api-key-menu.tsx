import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { MenuItem, MenuSeparator } from '../../ui/menu-items.tsx';
import { useNow } from '../../ui/time.tsx';
import { type ApiKeyRow, isExpired } from './api-key.ts';

export type ApiKeyAct = 'edit' | 'rotate' | 'revoke';

interface ApiKeyMenuProps {
  readonly row: ApiKeyRow;
  readonly onAct: (act: ApiKeyAct, row: ApiKeyRow) => void;
}

/** What can be done with a key; nothing with one that is revoked. */
export function ApiKeyMenu({ row, onAct }: ApiKeyMenuProps) {
  const expired = isExpired(row, useNow());
  if (row.revoked) return null;
  return (
    <Menu
      trigger={
        <Button small look="quiet" aria-label={`Actions for ${row.name}`}>
          ⋯
        </Button>
      }
    >
      <MenuItem onSelect={() => onAct('edit', row)}>Edit…</MenuItem>
      <MenuItem disabled={expired} onSelect={() => onAct('rotate', row)}>
        Replace the token…
      </MenuItem>
      <MenuSeparator />
      <MenuItem danger onSelect={() => onAct('revoke', row)}>
        Revoke…
      </MenuItem>
    </Menu>
  );
}
