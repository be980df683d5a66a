import { type MetricsOverview, metricsOverview } from '../../services/metrics/overview.ts';
import { builder } from '../builder.ts';

const ApplicationCounts = builder.objectRef<MetricsOverview['applications']>('ApplicationCounts').implement({
  description: 'How many applications you have.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All of them.' }),
    active: t.exposeInt('active', { description: 'Those whose clients are served.' }),
    disabled: t.exposeInt('disabled', { description: 'Those whose clients are refused.' }),
  }),
});

const LicenseCounts = builder.objectRef<MetricsOverview['licenses']>('LicenseCounts').implement({
  description: 'How many licenses your applications have, by where they stand now.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All of them.' }),
    unused: t.exposeInt('unused', { description: 'Those that were never used.' }),
    active: t.exposeInt('active', { description: 'Those in use.' }),
    expired: t.exposeInt('expired', { description: 'Those whose term is over.' }),
    banned: t.exposeInt('banned', { description: 'Those that are refused.' }),
  }),
});

const CodeCount = builder.objectRef<{ code: string; count: number }>('CodeCount').implement({
  description: 'How often a verdict was given.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The verdict, such as OK or HWID_MISMATCH.' }),
    count: t.exposeInt('count', { description: 'How often.' }),
  }),
});

const ValidationCounts = builder.objectRef<MetricsOverview['validations24h']>('ValidationCounts').implement({
  description: 'How often clients asked whether a license is valid.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All verdicts.' }),
    byCode: t.field({
      type: [CodeCount],
      description: 'By verdict, the most frequent first; those that did not occur are left out.',
      complexity: { field: 1, multiplier: 15 },
      resolve: ({ byCode }) =>
        Object.entries(byCode)
          .map(([code, count]) => ({ code, count }))
          .sort((left, right) => right.count - left.count),
    }),
  }),
});

const Metrics = builder.objectRef<MetricsOverview>('Metrics').implement({
  description: "The figures of a dashboard's first screen.",
  fields: (t) => ({
    applications: t.expose('applications', { type: ApplicationCounts, description: 'Your applications.' }),
    licenses: t.expose('licenses', { type: LicenseCounts, description: 'Their licenses.' }),
    validations24h: t.expose('validations24h', {
      type: ValidationCounts,
      description: 'The validations of the last 24 hours.',
    }),
  }),
});

builder.queryField('metrics', (t) =>
  t.field({
    type: Metrics,
    nullable: true,
    description: 'Figures of all of your applications. Null comes with an UNAUTHENTICATED error.',
    // It counts every license and a day of the log: as much as many rows.
    complexity: { field: 500, multiplier: 1 },
    resolve: (_parent, _args, { service }) => metricsOverview({ ctx: service }),
  }),
);
