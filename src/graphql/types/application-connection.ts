import { queryFromInfo } from '@pothos/plugin-prisma';
import { countApplications, sliceApplications } from '../../services/application/slice.ts';
import { sliceInput } from '../../services/slice.ts';
import { builder } from '../builder.ts';
import { connectionComplexity, connectionType, createConnection } from '../connection.ts';
import { parseInput } from '../input.ts';
import { Application } from './application.ts';

const DeveloperApplicationsConnection = connectionType(
  'DeveloperApplicationsConnection',
  Application,
  'applications',
);

builder.prismaObjectField('Developer', 'applications', (t) =>
  t.field({
    type: DeveloperApplicationsConnection,
    description: 'The applications, newest first.',
    args: t.arg.connectionArgs(),
    complexity: connectionComplexity,
    resolve: ({ id: developerId }, args, context, info) => {
      const ctx = context.service;
      const slice = parseInput(sliceInput, args);
      const { select } = queryFromInfo({ context, info, path: ['edges', 'node'], select: { id: true } });
      return createConnection({
        page: () => sliceApplications({ ctx, input: { developerId, slice }, select }),
        totalCount: () => countApplications({ ctx, input: { developerId } }),
      });
    },
  }),
);
