import { queryFromInfo } from '@pothos/plugin-prisma';
import { countLicenses, sliceLicenses } from '../../services/license/slice.ts';
import { type Sliced, searchInput, sliceInput } from '../../services/slice.ts';
import { builder } from '../builder.ts';
import { connectionComplexity, connectionType, createConnection } from '../connection.ts';
import { parseInput } from '../input.ts';
import { createSiblings } from '../siblings.ts';
import { License } from './license.ts';

const ApplicationLicensesConnection = connectionType('ApplicationLicensesConnection', License, 'licenses');

const siblings = createSiblings<{
  pages: ReadonlyMap<string, Sliced<{ id: string }>>;
  counts: ReadonlyMap<string, number>;
}>();

const nothing: Sliced<never> = { rows: [], hasNextPage: false, hasPreviousPage: false };

builder.prismaObjectField('Application', 'licenses', (t) =>
  t.field({
    type: ApplicationLicensesConnection,
    description: 'Its licenses, newest first.',
    args: {
      ...t.arg.connectionArgs(),
      q: t.arg.string({
        description: 'Substring of key prefix, note, HWID or address, in any case; or a whole key.',
      }),
    },
    complexity: connectionComplexity,
    resolve: ({ id }, { q, ...args }, context, info) => {
      const slice = parseInput(sliceInput, args);
      const search = parseInput(searchInput, { q }).q;
      const ctx = context.service;
      const { select } = queryFromInfo({ context, info, path: ['edges', 'node'], select: { id: true } });
      const group = siblings(context, info, id, {
        pages: (applicationIds) =>
          sliceLicenses({ ctx, input: { applicationIds, slice, q: search }, select }),
        counts: (applicationIds) => countLicenses({ ctx, input: { applicationIds, q: search } }),
      });
      return createConnection({
        page: async () => (await group.load('pages')).get(id) ?? nothing,
        totalCount: async () => (await group.load('counts')).get(id) ?? 0,
      });
    },
  }),
);
