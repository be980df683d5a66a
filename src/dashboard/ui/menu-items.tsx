import type { ComponentProps, ReactNode } from 'react';
import { classNames } from './class-names.ts';
import styles from './menu.module.css';

/** The highlight is the focus, and follows the pointer as well as the keys. */
const Item = ({ className, ...rest }: ComponentProps<'button'>) => (
  <button
    {...rest}
    type="button"
    tabIndex={-1}
    className={classNames(styles.item, className)}
    onPointerMove={(event) => event.currentTarget.focus()}
  />
);

interface MenuItemProps {
  readonly children: ReactNode;
  readonly onSelect: () => void;
  readonly danger?: boolean;
  readonly disabled?: boolean;
}

export const MenuItem = ({ children, onSelect, danger = false, disabled = false }: MenuItemProps) => (
  <Item
    role="menuitem"
    className={danger ? styles.danger : undefined}
    aria-disabled={disabled || undefined}
    onClick={({ currentTarget }) => {
      if (disabled) return;
      // First, so that what the act opens returns the focus to the menu's button.
      currentTarget.closest<HTMLElement>('[popover]')?.hidePopover();
      onSelect();
    }}
  >
    {children}
  </Item>
);

interface MenuCheckProps {
  readonly children: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

/** An item that is on or off; the menu stays open. */
export const MenuCheck = ({ children, checked, onChange }: MenuCheckProps) => (
  <Item role="menuitemcheckbox" aria-checked={checked} onClick={() => onChange(!checked)}>
    <span className={styles.mark} aria-hidden>
      {checked ? '✓' : ''}
    </span>
    {children}
  </Item>
);

export const MenuSeparator = () => <hr className={styles.separator} />;
