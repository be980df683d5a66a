import type { Column } from '../../list/columns.ts';
import { Mono } from '../../ui/text.tsx';
import type { ApiKeyRow } from './api-key.ts';
import { type ApiKeyAct, ApiKeyMenu } from './api-key-menu.tsx';
import {
  ApiKeyApplication,
  ApiKeyBadge,
  ApiKeyExpiry,
  ApiKeyLastUsed,
  ApiKeyNetworks,
} from './api-key-parts.tsx';
import { scopesInWords } from './scopes.ts';

const Scopes = ({ row }: { readonly row: ApiKeyRow }) => {
  const words = scopesInWords(row.scopes, row.applicationId);
  return <span title={words}>{words}</span>;
};

export const columnsOf = (onAct: (act: ApiKeyAct, row: ApiKeyRow) => void): readonly Column<ApiKeyRow>[] => [
  { id: 'name', header: 'Name', cell: ({ name }) => <span title={name}>{name}</span> },
  { id: 'prefix', header: 'Begins with', width: '168px', cell: ({ keyPrefix }) => <Mono>{keyPrefix}…</Mono> },
  { id: 'scopes', header: 'May do', width: '17%', cell: (row) => <Scopes row={row} /> },
  { id: 'application', header: 'Application', width: '10%', cell: (row) => <ApiKeyApplication row={row} /> },
  { id: 'networks', header: 'Networks', width: '11%', cell: (row) => <ApiKeyNetworks row={row} /> },
  { id: 'expires', header: 'Expires', width: '94px', cell: (row) => <ApiKeyExpiry row={row} /> },
  { id: 'used', header: 'Last used', width: '94px', cell: (row) => <ApiKeyLastUsed row={row} /> },
  { id: 'state', header: 'State', width: '112px', stays: true, cell: (row) => <ApiKeyBadge row={row} /> },
  {
    id: 'actions',
    header: 'Action',
    width: '72px',
    number: true,
    stays: true,
    cell: (row) => <ApiKeyMenu row={row} onAct={onAct} />,
  },
];
