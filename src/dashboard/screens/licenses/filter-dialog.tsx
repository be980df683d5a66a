import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { FormStack } from '../../ui/page.tsx';
import { type FilterKind, filterKinds } from './filter-kinds.ts';
import { type LicenseSearch, licenseStatuses, readLicenseSearch } from './search.ts';
import type { NamedPolicy } from './use-policies.ts';

interface FilterDialogProps {
  readonly kind: FilterKind;
  readonly search: LicenseSearch;
  readonly policies: readonly NamedPolicy[];
  readonly onApply: (search: LicenseSearch) => void;
  readonly onClose: () => void;
}

/** Asks for the value of one filter. */
export function FilterDialog({ kind, search, policies, onApply, onClose }: FilterDialogProps) {
  const [draft, setDraft] = useState(search);
  const label = filterKinds.find((known) => known.kind === kind)?.label ?? '';
  const apply = (event: FormEvent) => {
    event.preventDefault();
    // Emptied fields are no filters.
    onApply(readLicenseSearch({ ...draft }));
  };
  return (
    <Dialog
      title={`Filter: ${label.toLowerCase()}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="license-filter">
            Filter
          </Button>
        </>
      }
    >
      <form id="license-filter" onSubmit={apply}>
        <FormStack>
          <FilterValue kind={kind} draft={draft} policies={policies} onChange={setDraft} />
        </FormStack>
      </form>
    </Dialog>
  );
}

interface FilterValueProps {
  readonly kind: FilterKind;
  readonly draft: LicenseSearch;
  readonly policies: readonly NamedPolicy[];
  readonly onChange: (draft: LicenseSearch) => void;
}

const numberOf = (text: string): number => (text === '' ? Number.NaN : Number(text));

function FilterValue({ kind, draft, policies, onChange }: FilterValueProps) {
  switch (kind) {
    case 'status': {
      const chosen = draft.status ?? [];
      return licenseStatuses.map((status) => (
        <CheckField
          key={status}
          label={`${status.charAt(0).toUpperCase()}${status.slice(1)}`}
          hint={
            status === 'expired' ? 'Also licenses that are still valid because of their grace.' : undefined
          }
          checked={chosen.includes(status)}
          onChange={(on) =>
            onChange({
              ...draft,
              status: on ? [...chosen, status] : chosen.filter((other) => other !== status),
            })
          }
        />
      ));
    }
    case 'tier':
      return (
        <TextField
          label="Tier"
          type="number"
          min={0}
          required
          defaultValue={draft.tier}
          onChange={(text) => onChange({ ...draft, tier: numberOf(text) })}
        />
      );
    case 'tag':
      return (
        <TextField
          label="Tag"
          hint="The whole tag."
          maxLength={64}
          required
          value={draft.tag ?? ''}
          onChange={(tag) => onChange({ ...draft, tag })}
        />
      );
    case 'policy':
      return (
        <SelectField
          label="Policy"
          hint="Licenses that it created, or to which it was applied last."
          value={draft.policy ?? ''}
          options={[
            { value: '', label: 'Any' },
            ...policies.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(policy) => onChange({ ...draft, policy })}
        />
      );
    case 'expires':
      return (
        <TextField
          label="Expires within days"
          hint="Licenses whose term ends between now and then."
          type="number"
          min={1}
          max={3_650}
          required
          defaultValue={draft.expires}
          onChange={(text) => onChange({ ...draft, expires: numberOf(text) })}
        />
      );
    case 'device':
      return (
        <SelectField
          label="Device"
          value={draft.device === undefined ? 'any' : draft.device ? 'bound' : 'free'}
          options={[
            { value: 'any', label: 'Any' },
            { value: 'bound', label: 'Bound to a device' },
            { value: 'free', label: 'Not bound' },
          ]}
          onChange={(value) => {
            const { device: _any, ...rest } = draft;
            onChange(value === 'any' ? rest : { ...rest, device: value === 'bound' });
          }}
        />
      );
  }
}
