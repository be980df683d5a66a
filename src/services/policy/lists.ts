import { z } from 'zod';
import { instant } from '../../db/from-json.ts';
import { columnsOf, type ListTable, listSource } from '../list-source.ts';
import { searchText } from '../page.ts';
import { containsText } from '../search.ts';
import { policySelect } from './view.ts';

export const policyTable = {
  name: 'policies',
  columns: columnsOf('policies', policySelect),
  fromJson: { createdAt: instant, updatedAt: instant },
  developerId:
    '(SELECT applications.developer_id FROM applications WHERE applications.id = policies.application_id)',
  applicationId: 'policies.application_id',
  readScope: 'licenses:read',
} satisfies ListTable;

/** Filter of a list of policies. */
export const policyFilter = z.object({
  /** Substring of the code or the name. */
  q: searchText.optional(),
});

/** The policies of an application. */
export const policiesOfApplications = listSource<z.output<typeof policyFilter>>({
  filter: policyFilter,
  table: policyTable,
  parentColumn: 'application_id',
  matches: ({ q }) => containsText(['policies.code', 'policies.name'], q),
});
