import { z } from 'zod';
import { type FromJsonOf, instant } from '../../db/from-json.ts';
import { all, columnsOf, isSet, type ListTable, listSource } from '../list-source.ts';
import { type ApiKeyRow, apiKeySelect } from './view.ts';

/** An API key's readable columns; the hash is not among them. */
export const apiKeyTable = {
  name: 'api_keys',
  columns: columnsOf('api_keys', apiKeySelect),
  fromJson: {
    expiresAt: instant,
    previousValidUntil: instant,
    createdAt: instant,
    lastUsedAt: instant,
    revokedAt: instant,
  } satisfies FromJsonOf<ApiKeyRow>,
  developerId: 'api_keys.developer_id',
  applicationId: null,
  readScope: 'account:read',
} satisfies ListTable;

/** Filter of an API key list. */
export const apiKeyFilter = z.object({ revoked: z.boolean().optional() });

export type ApiKeyFilter = z.output<typeof apiKeyFilter>;

/** A developer's API keys. */
export const apiKeysOfDevelopers = listSource<ApiKeyFilter>({
  filter: apiKeyFilter,
  table: apiKeyTable,
  parentColumn: 'developer_id',
  matches: ({ revoked }) => all([revoked !== undefined && isSet('api_keys.revoked_at', revoked)]),
});
