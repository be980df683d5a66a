import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { FilterDialog } from './filter-dialog.tsx';
import { type FilterKind, filterKinds, filterText } from './filter-kinds.ts';
import styles from './licenses.module.css';
import type { LicenseSearch } from './search.ts';
import { SearchField } from './search-field.tsx';
import { usePolicies } from './use-policies.ts';

interface FilterBarProps {
  readonly applicationId: string;
  readonly search: LicenseSearch;
  /** @param replace whether the change is a part of the one before it, as while typing */
  readonly onChange: (search: LicenseSearch, replace?: boolean) => void;
}

const without = (search: LicenseSearch, kind: keyof LicenseSearch): LicenseSearch => {
  const { [kind]: _left, ...rest } = search;
  return rest;
};

/** The search, the filters that are set, and a menu of more. */
export function FilterBar({ applicationId, search, onChange }: FilterBarProps) {
  const [edited, setEdited] = useState<FilterKind | null>(null);
  const policies = usePolicies(applicationId);
  const set = filterKinds.flatMap(({ kind, label }) => {
    const text = filterText(kind, search, policies);
    return text === null ? [] : [{ kind, label, text }];
  });
  return (
    <div className={styles.filters}>
      <SearchField
        key={applicationId}
        applicationId={applicationId}
        value={search.q ?? ''}
        onChange={(q) => onChange(q === '' ? without(search, 'q') : { ...search, q }, true)}
      />
      {set.map(({ kind, label, text }) => (
        <span key={kind} className={styles.filter}>
          <button type="button" className={styles.filterText} onClick={() => setEdited(kind)}>
            {label}: <strong>{text}</strong>
          </button>
          <button
            type="button"
            className={styles.filterOff}
            aria-label={`Remove the filter ${label}: ${text}`}
            onClick={() => onChange(without(search, kind))}
          >
            ×
          </button>
        </span>
      ))}
      <Menu trigger={<Button look="pill">+ Filter</Button>} align="start">
        {filterKinds.map(({ kind, label }) => (
          <MenuItem key={kind} onSelect={() => setEdited(kind)}>
            {label}…
          </MenuItem>
        ))}
      </Menu>
      {set.length > 1 && (
        <Button look="quiet" onClick={() => onChange(search.q === undefined ? {} : { q: search.q })}>
          Clear filters
        </Button>
      )}
      {edited !== null && (
        <FilterDialog
          kind={edited}
          search={search}
          policies={policies}
          onApply={(next) => {
            setEdited(null);
            onChange(next);
          }}
          onClose={() => setEdited(null)}
        />
      )}
    </div>
  );
}
