import { type MetricsOverview, metricsOverview } from '../../services/metrics/overview.ts';
import { builder } from '../builder.ts';

const ApplicationCounts = builder.objectRef<MetricsOverview['applications']>('ApplicationCounts').implement({
  description: 'The number of your applications.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All applications.' }),
    active: t.exposeInt('active', { description: 'Applications whose client requests are served.' }),
    disabled: t.exposeInt('disabled', { description: 'Applications whose client requests are refused.' }),
  }),
});

const LicenseCounts = builder.objectRef<MetricsOverview['licenses']>('LicenseCounts').implement({
  description: 'The number of licenses of all your applications, by current status.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All licenses.' }),
    unused: t.exposeInt('unused', { description: 'Licenses that were never used.' }),
    active: t.exposeInt('active', { description: 'Licenses in use.' }),
    suspended: t.exposeInt('suspended', { description: 'Suspended licenses.' }),
    expired: t.exposeInt('expired', { description: 'Licenses whose term has ended.' }),
    banned: t.exposeInt('banned', { description: 'Banned licenses.' }),
  }),
});

const CodeCount = builder.objectRef<{ code: string; count: number }>('CodeCount').implement({
  description: 'The number of times a verdict was given.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The verdict, such as OK or HWID_MISMATCH.' }),
    count: t.exposeInt('count', { description: 'The number of times.' }),
  }),
});

const ValidationCounts = builder.objectRef<MetricsOverview['validations24h']>('ValidationCounts').implement({
  description: 'The number of license validations.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All verdicts.' }),
    byCode: t.field({
      type: [CodeCount],
      description: 'By verdict, the most frequent first; verdicts that did not occur are omitted.',
      complexity: { field: 1, multiplier: 15 },
      resolve: ({ byCode }) =>
        Object.entries(byCode)
          .map(([code, count]) => ({ code, count }))
          .sort((left, right) => right.count - left.count),
    }),
  }),
});

const Metrics = builder.objectRef<MetricsOverview>('Metrics').implement({
  description: "Figures for a dashboard's first screen.",
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
    description: 'Figures for all of your applications. Null comes with an UNAUTHENTICATED error.',
    // It counts every license and a day of the log: as much as many rows.
    complexity: { field: 500, multiplier: 1 },
    resolve: (_parent, _args, { service }) => metricsOverview({ ctx: service }),
  }),
);
