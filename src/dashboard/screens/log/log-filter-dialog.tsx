import { type FormEvent, useState } from 'react';
import { entryEvents, eventLabel } from '../../log-entries/entry-text.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { MomentField } from '../../ui/moment-field.tsx';
import { FieldPair, FormStack } from '../../ui/page.tsx';
import type { LogFilterKind } from './log-filters.tsx';
import { NamesField } from './names-field.tsx';
import { type LogSearch, readLogSearch } from './search.ts';

/** Verdicts on requests of clients, in the order in which the service checks. */
const codes = [
  'OK',
  'APP_DISABLED',
  'APP_OUTDATED',
  'IP_BANNED',
  'HWID_BANNED',
  'LICENSE_NOT_FOUND',
  'BANNED',
  'SUSPENDED',
  'EXPIRED',
  'DEVICE_RELEASED',
  'HWID_MISMATCH',
  'DEVICE_LIMIT',
  'SELF_SERVICE_OFF',
  'DEVICE_UNKNOWN',
  'MOVE_COOLDOWN',
  'MOVES_EXHAUSTED',
  'REGISTER_DISABLED',
  'LICENSE_REQUIRED',
  'INVALID_CREDENTIALS',
  'USERNAME_TAKEN',
  'USER_NOT_FOUND',
  'TIER_NOT_HIGHER',
] as const;

const titles = {
  events: 'Filter: event',
  codes: 'Filter: verdict',
  time: 'Filter: time',
  license: 'Filter: license',
  user: 'Filter: user',
} as const satisfies Record<LogFilterKind, string>;

interface LogFilterDialogProps {
  readonly kind: LogFilterKind;
  readonly search: LogSearch;
  readonly onApply: (search: LogSearch) => void;
  readonly onClose: () => void;
}

/** Asks for the value of one filter. */
export function LogFilterDialog({ kind, search, onApply, onClose }: LogFilterDialogProps) {
  const [draft, setDraft] = useState(search);
  const apply = (event: FormEvent) => {
    event.preventDefault();
    // Emptied fields are no filters.
    onApply(readLogSearch({ ...draft }));
  };
  const part = { draft, onChange: (change: Partial<LogSearch>) => setDraft({ ...draft, ...change }) };
  return (
    <Dialog
      title={titles[kind]}
      wide={kind === 'events' || kind === 'codes'}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="log-filter">
            Filter
          </Button>
        </>
      }
    >
      <form id="log-filter" onSubmit={apply}>
        <FilterValue kind={kind} {...part} />
      </form>
    </Dialog>
  );
}

interface FilterValueProps {
  readonly kind: LogFilterKind;
  readonly draft: LogSearch;
  readonly onChange: (change: Partial<LogSearch>) => void;
}

const idPattern = '[0-9a-fA-F\\-]{36}';

function FilterValue({ kind, draft, onChange }: FilterValueProps) {
  switch (kind) {
    case 'events':
      return (
        <NamesField
          legend="Entries of these kinds"
          names={entryEvents.map((event) => ({ name: event, label: eventLabel(event) }))}
          chosen={draft.events ?? []}
          onChange={(events) => onChange({ events })}
        />
      );
    case 'codes':
      return (
        <NamesField
          legend="Entries with these verdicts"
          names={codes.map((code) => ({ name: code, label: code }))}
          chosen={draft.codes ?? []}
          onChange={(chosen) => onChange({ codes: chosen })}
        />
      );
    case 'time':
      return (
        <FieldPair>
          <MomentField
            label="From"
            value={draft.from ?? null}
            onChange={(from) => onChange({ from: from ?? '' })}
          />
          <MomentField
            label="Before"
            hint="If it is set, entries made later do not appear."
            value={draft.to ?? null}
            onChange={(to) => onChange({ to: to ?? '' })}
          />
        </FieldPair>
      );
    case 'license':
    case 'user':
      return (
        <FormStack>
          <TextField
            label={kind === 'license' ? 'Id of the license' : 'Id of the user'}
            hint={`Open the ${kind} and follow its link to the log, or copy its id from there.`}
            mono
            pattern={idPattern}
            title="A UUID"
            value={draft[kind] ?? ''}
            onChange={(id) => onChange({ [kind]: id.trim() })}
          />
        </FormStack>
      );
  }
}
