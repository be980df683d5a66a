import { useState } from 'react';
import { FilterBar } from '../../list/filter-bar.tsx';
import { eventLabel } from '../../log-entries/entry-text.ts';
import { momentText } from '../../ui/format.ts';
import { LogFilterDialog } from './log-filter-dialog.tsx';
import { eventsOf } from './log-page.ts';
import type { LogSearch } from './search.ts';

export type LogFilterKind = 'events' | 'codes' | 'time' | 'license' | 'user';

const listText = (names: readonly string[], label: (name: string) => string): string | null => {
  const [first] = names;
  if (first === undefined) return null;
  return names.length === 1 ? label(first) : `${label(first)} and ${names.length - 1} more`;
};

function timeText({ from, to }: LogSearch): string | null {
  if (from && to) return `${momentText(from)} to ${momentText(to)}`;
  if (from) return `from ${momentText(from)}`;
  return to ? `before ${momentText(to)}` : null;
}

const without = (search: LogSearch, kind: LogFilterKind): LogSearch => {
  const { [kind === 'time' ? 'from' : kind]: _first, ...rest } = search;
  if (kind !== 'time') return rest;
  const { to: _to, ...others } = rest;
  return others;
};

interface LogFiltersProps {
  readonly search: LogSearch;
  readonly onChange: (search: LogSearch, replace?: boolean) => void;
}

export function LogFilters({ search, onChange }: LogFiltersProps) {
  const [edited, setEdited] = useState<LogFilterKind | null>(null);
  const events = eventsOf(search);
  const [onlyEvent] = events;
  const { q: _q, ...rest } = search;
  return (
    <>
      <FilterBar
        search={search.q ?? ''}
        placeholder="Verdict, device, address or country"
        onSearch={(q) => onChange(q === '' ? rest : { ...search, q }, true)}
        filters={[
          {
            kind: 'events',
            label: 'Event',
            text:
              onlyEvent === undefined
                ? null
                : events.length === 1
                  ? eventLabel(onlyEvent)
                  : `${eventLabel(onlyEvent)} and ${events.length - 1} more`,
          },
          { kind: 'codes', label: 'Verdict', text: listText(search.codes ?? [], (code) => code) },
          { kind: 'time', label: 'Time', text: timeText(search) },
          {
            kind: 'license',
            label: 'License',
            text: search.license ? `${search.license.slice(0, 8)}…` : null,
          },
          { kind: 'user', label: 'User', text: search.user ? `${search.user.slice(0, 8)}…` : null },
        ]}
        onEdit={setEdited}
        onRemove={(kind) => onChange(without(search, kind))}
      />
      {edited !== null && (
        <LogFilterDialog
          kind={edited}
          search={search}
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
