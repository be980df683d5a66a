import { type FormEvent, useState } from 'react';
import { FilterBar } from '../../list/filter-bar.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { numberText } from '../../ui/format.ts';
import { NumberField } from '../../ui/number-field.tsx';
import { FormStack } from '../../ui/page.tsx';
import type { UserSearch } from './search.ts';

type Kind = 'license' | 'device' | 'tier';

interface UserFiltersProps {
  readonly search: UserSearch;
  readonly onChange: (search: UserSearch) => void;
}

const labels = { license: 'License', device: 'Device', tier: 'Tier' } as const;

const yesNo = (value: boolean | undefined, yes: string, no: string) =>
  value === undefined ? null : value ? yes : no;

export function UserFilters({ search, onChange }: UserFiltersProps) {
  const [editing, setEditing] = useState<Kind | null>(null);
  const { q = '', ...filters } = search;
  const without = (kind: 'q' | Kind): UserSearch => {
    const { [kind]: _removed, ...rest } = search;
    return rest;
  };
  return (
    <>
      <FilterBar<Kind>
        search={q}
        placeholder="Username, email, address or device"
        onSearch={(text) => onChange(text === '' ? without('q') : { ...search, q: text })}
        filters={[
          { kind: 'license', label: labels.license, text: yesNo(filters.license, 'with', 'without') },
          { kind: 'device', label: labels.device, text: yesNo(filters.device, 'known', 'not known') },
          {
            kind: 'tier',
            label: labels.tier,
            text: filters.tier === undefined ? null : numberText(filters.tier),
          },
        ]}
        onEdit={setEditing}
        onRemove={(kind) => onChange(without(kind))}
      />
      {editing !== null && (
        <UserFilterDialog
          kind={editing}
          search={search}
          onApply={(part) => {
            onChange({ ...search, ...part });
            setEditing(null);
          }}
          onClose={() => setEditing(null)}
        />
      )}
    </>
  );
}

interface UserFilterDialogProps {
  readonly kind: Kind;
  readonly search: UserSearch;
  readonly onApply: (part: UserSearch) => void;
  readonly onClose: () => void;
}

function UserFilterDialog({ kind, search, onApply, onClose }: UserFilterDialogProps) {
  const [tier, setTier] = useState<number | null>(search.tier ?? 1);
  const [choice, setChoice] = useState<'yes' | 'no'>(
    (kind === 'license' ? search.license : search.device) === false ? 'no' : 'yes',
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (kind === 'tier') {
      if (tier !== null) onApply({ tier });
    } else onApply({ [kind]: choice === 'yes' });
  };
  const texts = kind === 'license' ? ['With a license', 'Without a license'] : ['Known', 'Not known'];
  return (
    <Dialog
      title={`Filter by ${labels[kind].toLowerCase()}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="user-filter">
            Apply filter
          </Button>
        </>
      }
    >
      <form id="user-filter" onSubmit={submit}>
        <FormStack>
          {kind === 'tier' ? (
            <NumberField
              label="Tier of the license"
              min={0}
              max={2_147_483_647}
              value={tier}
              onChange={setTier}
            />
          ) : (
            <SelectField
              label={kind === 'license' ? 'License' : 'Last device'}
              value={choice}
              options={[
                { value: 'yes', label: texts[0] ?? '' },
                { value: 'no', label: texts[1] ?? '' },
              ]}
              onChange={setChoice}
            />
          )}
        </FormStack>
      </form>
    </Dialog>
  );
}
