import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Menu } from '../ui/menu.tsx';
import { MenuItem } from '../ui/menu-items.tsx';
import styles from './filter-bar.module.css';
import { SearchInput, type SearchInputProps } from './search-input.tsx';

export interface Filter<Kind extends string> {
  readonly kind: Kind;
  readonly label: string;
  /** What it is set to; null if it is not set. */
  readonly text: string | null;
}

interface FilterBarProps<Kind extends string> extends Pick<SearchInputProps, 'placeholder' | 'findKey'> {
  readonly search: string;
  readonly onSearch: (q: string) => void;
  readonly filters: readonly Filter<Kind>[];
  readonly onEdit: (kind: Kind) => void;
  readonly onRemove: (kind: Kind) => void;
  /** At the end of the bar. */
  readonly children?: ReactNode;
}

/** A search, the filters that are set, and a menu of all. */
export function FilterBar<Kind extends string>(props: FilterBarProps<Kind>) {
  const { search, placeholder, findKey, onSearch, filters, onEdit, onRemove, children } = props;
  return (
    <div className={styles.bar}>
      <SearchInput value={search} placeholder={placeholder} findKey={findKey} onChange={onSearch} />
      {filters.map(
        ({ kind, label, text }) =>
          text !== null && (
            <span key={kind} className={styles.chip}>
              <button type="button" className={styles.text} onClick={() => onEdit(kind)}>
                {label}: <strong>{text}</strong>
              </button>
              <button
                type="button"
                className={styles.off}
                aria-label={`Remove the filter ${label}: ${text}`}
                onClick={() => onRemove(kind)}
              >
                ×
              </button>
            </span>
          ),
      )}
      <Menu trigger={<Button look="pill">+ Filter</Button>} align="start">
        {filters.map(({ kind, label }) => (
          <MenuItem key={kind} onSelect={() => onEdit(kind)}>
            {label}…
          </MenuItem>
        ))}
      </Menu>
      {children}
    </div>
  );
}
