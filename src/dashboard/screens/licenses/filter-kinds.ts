import { numberText } from '../../ui/format.ts';
import type { LicenseSearch } from './search.ts';
import type { NamedPolicy } from './use-policies.ts';

export const filterKinds = [
  { kind: 'status', label: 'Status' },
  { kind: 'tier', label: 'Tier' },
  { kind: 'tag', label: 'Tag' },
  { kind: 'policy', label: 'Policy' },
  { kind: 'expires', label: 'Expires' },
  { kind: 'device', label: 'Device' },
] as const satisfies readonly { readonly kind: keyof LicenseSearch; readonly label: string }[];

export type FilterKind = (typeof filterKinds)[number]['kind'];

/** What a filter says; null if it is not set. */
export function filterText(
  kind: FilterKind,
  search: LicenseSearch,
  policies: readonly NamedPolicy[],
): string | null {
  const value = search[kind];
  if (value === undefined) return null;
  switch (kind) {
    case 'status':
      return search.status?.join(', ') ?? null;
    case 'expires':
      return search.expires === 1 ? 'next day' : `next ${numberText(search.expires ?? 0)} days`;
    case 'device':
      return search.device ? 'bound' : 'not bound';
    case 'policy':
      return policies.find(({ id }) => id === search.policy)?.name ?? 'a deleted policy';
    default:
      return String(value);
  }
}
