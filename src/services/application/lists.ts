import { z } from 'zod';
import { bytes, type FromJsonOf, instant } from '../../db/from-json.ts';
import { columnsOf, type ListTable, listSource } from '../list-source.ts';
import { onlyOwn } from '../own-application.ts';
import { type ApplicationRow, applicationSelect } from './view.ts';

/** An application's readable columns; the private key is not among them. */
export const applicationTable = {
  name: 'applications',
  columns: columnsOf('applications', applicationSelect),
  fromJson: { publicKey: bytes, createdAt: instant, updatedAt: instant } satisfies FromJsonOf<ApplicationRow>,
  developerId: 'applications.developer_id',
  applicationId: 'applications.id',
  readScope: 'applications:read',
} satisfies ListTable;

/** A developer's applications; the only one, for a key that is for one. */
export const applicationsOfDevelopers = listSource<object>({
  filter: z.object({}),
  table: applicationTable,
  parentColumn: 'developer_id',
  matches: (_filter, { actor }) => onlyOwn(actor, 'applications.id'),
});
