import { type FormEvent, useState } from 'react';
import type { BanType } from '../../generated/graphql.ts';
import { FilterBar } from '../../list/filter-bar.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { banTypeNames } from './ban-columns.tsx';
import { type BanSearch, banTypes } from './search.ts';

interface BanFiltersProps {
  readonly search: BanSearch;
  readonly onChange: (search: BanSearch) => void;
}

export function BanFilters({ search, onChange }: BanFiltersProps) {
  const [isEditing, setIsEditing] = useState(false);
  const [type, setType] = useState<BanType>('hwid');
  const without = (name: keyof BanSearch): BanSearch => {
    const { [name]: _removed, ...rest } = search;
    return rest;
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange({ ...search, type });
    setIsEditing(false);
  };
  return (
    <>
      <FilterBar<'type'>
        search={search.q ?? ''}
        placeholder="Device or address"
        onSearch={(q) => onChange(q === '' ? without('q') : { ...search, q })}
        filters={[
          { kind: 'type', label: 'Type', text: search.type ? banTypeNames[search.type].toLowerCase() : null },
        ]}
        onEdit={() => {
          setType(search.type ?? 'hwid');
          setIsEditing(true);
        }}
        onRemove={() => onChange(without('type'))}
      />
      {isEditing && (
        <Dialog
          title="Filter by type"
          onClose={() => setIsEditing(false)}
          footer={
            <>
              <Button onClick={() => setIsEditing(false)}>Cancel</Button>
              <Button look="primary" type="submit" form="ban-filter">
                Apply filter
              </Button>
            </>
          }
        >
          <form id="ban-filter" onSubmit={submit}>
            <SelectField
              label="Type"
              value={type}
              options={banTypes.map((value) => ({ value, label: banTypeNames[value] }))}
              onChange={setType}
            />
          </form>
        </Dialog>
      )}
    </>
  );
}
