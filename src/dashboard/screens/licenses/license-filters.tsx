import { useState } from 'react';
import { FilterBar } from '../../list/filter-bar.tsx';
import { Button } from '../../ui/button.tsx';
import { FilterDialog } from './filter-dialog.tsx';
import { type FilterKind, filterKinds, filterText } from './filter-kinds.ts';
import { findByKey } from './find-by-key.ts';
import type { LicenseSearch } from './search.ts';
import { usePolicies } from './use-policies.ts';

interface LicenseFiltersProps {
  readonly applicationId: string;
  readonly search: LicenseSearch;
  /** @param replace whether the change is a part of the one before it, as while typing */
  readonly onChange: (search: LicenseSearch, replace?: boolean) => void;
}

const without = (search: LicenseSearch, kind: keyof LicenseSearch): LicenseSearch => {
  const { [kind]: _left, ...rest } = search;
  return rest;
};

/** The search, the filters that are set, and a menu of all. Of a whole key, only the prefix becomes the search. */
export function LicenseFilters({ applicationId, search, onChange }: LicenseFiltersProps) {
  const [edited, setEdited] = useState<FilterKind | null>(null);
  const policies = usePolicies(applicationId);
  const filters = filterKinds.map(({ kind, label }) => ({
    kind,
    label,
    text: filterText(kind, search, policies),
  }));
  return (
    <>
      <FilterBar<FilterKind>
        key={applicationId}
        search={search.q ?? ''}
        placeholder="Key, note, device or address"
        findKey={(key) => findByKey(applicationId, key)}
        onSearch={(q) => onChange(q === '' ? without(search, 'q') : { ...search, q }, true)}
        filters={filters}
        onEdit={setEdited}
        onRemove={(kind) => onChange(without(search, kind))}
      >
        {filters.filter(({ text }) => text !== null).length > 1 && (
          <Button look="quiet" onClick={() => onChange(search.q === undefined ? {} : { q: search.q })}>
            Clear filters
          </Button>
        )}
      </FilterBar>
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
    </>
  );
}
