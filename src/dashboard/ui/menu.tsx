import { Menu as BaseMenu } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';
import { classNames } from './class-names.ts';
import styles from './menu.module.css';

interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactElement;
  readonly children: ReactNode;
  readonly align?: 'start' | 'end';
}

export function Menu({ trigger, children, align = 'end' }: MenuProps) {
  return (
    <BaseMenu.Root>
      <BaseMenu.Trigger render={trigger} />
      <BaseMenu.Portal>
        <BaseMenu.Positioner className={styles.positioner} sideOffset={4} align={align}>
          <BaseMenu.Popup className={styles.popup}>{children}</BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

interface MenuItemProps {
  readonly children: ReactNode;
  readonly onSelect: () => void;
  readonly danger?: boolean;
  readonly disabled?: boolean;
}

export function MenuItem({ children, onSelect, danger = false, disabled }: MenuItemProps) {
  return (
    <BaseMenu.Item
      className={classNames(styles.item, danger && styles.danger)}
      disabled={disabled}
      onClick={onSelect}
    >
      {children}
    </BaseMenu.Item>
  );
}

interface MenuCheckProps {
  readonly children: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

/** An item that is on or off; the menu stays open. */
export function MenuCheck({ children, checked, onChange }: MenuCheckProps) {
  return (
    <BaseMenu.CheckboxItem
      className={styles.item}
      checked={checked}
      onCheckedChange={onChange}
      closeOnClick={false}
    >
      <span className={styles.mark} aria-hidden>
        {checked ? '✓' : ''}
      </span>
      {children}
    </BaseMenu.CheckboxItem>
  );
}

export const MenuSeparator = () => <BaseMenu.Separator className={styles.separator} />;
