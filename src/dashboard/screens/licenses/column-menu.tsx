import type { Column } from '../../list/columns.ts';
import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { MenuCheck } from '../../ui/menu-items.tsx';

interface ColumnMenuProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly hidden: ReadonlySet<string>;
  readonly onChange: (id: string, shown: boolean) => void;
}

/** Shows and hides columns. The first one, which leads to the row's own screen, is always shown. */
export const ColumnMenu = <Row,>({ columns, hidden, onChange }: ColumnMenuProps<Row>) => (
  <Menu trigger={<Button>Columns</Button>}>
    {columns.slice(1).map(({ id, header }) => (
      <MenuCheck key={id} checked={!hidden.has(id)} onChange={(shown) => onChange(id, shown)}>
        {header}
      </MenuCheck>
    ))}
  </Menu>
);
