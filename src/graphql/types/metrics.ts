import { expiryDays } from '../../services/metrics/count-expiries.ts';
import { type MetricsHistory, metricsHistory } from '../../services/metrics/history.ts';
import { type MetricsOverview, metricsOverview } from '../../services/metrics/overview.ts';
import { metricsPeriods } from '../../services/metrics/periods.ts';
import { builder } from '../builder.ts';
import { withoutNulls } from '../input.ts';

const ApplicationCounts = builder.objectRef<MetricsOverview['applications']>('ApplicationCounts').implement({
  description: 'The number of your applications.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All applications.' }),
    active: t.exposeInt('active', { description: 'Applications whose client requests are served.' }),
    disabled: t.exposeInt('disabled', { description: 'Applications whose client requests are refused.' }),
  }),
});

const LicenseCounts = builder.objectRef<MetricsOverview['licenses']>('LicenseCounts').implement({
  description: 'The number of licenses by current status.',
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

const metricsPeriod = builder.enumType('MetricsPeriod', {
  description: 'How far back a history goes, and how long its buckets are.',
  values: {
    day: { description: '24 buckets of an hour.' },
    week: { description: '28 buckets of six hours.' },
    month: { description: '30 buckets of a day.' },
  } as const,
});

const ValidationBucket = builder
  .objectRef<MetricsHistory['validations'][number]>('ValidationBucket')
  .implement({
    description: 'The number of times a verdict was given in a bucket.',
    fields: (t) => ({
      startsAt: t.expose('startsAt', { type: 'DateTime', description: 'The start of the bucket.' }),
      code: t.exposeString('code', { description: 'The verdict, such as OK or HWID_MISMATCH.' }),
      count: t.exposeInt('count', { description: 'The number of times.' }),
    }),
  });

const ActivationBucket = builder
  .objectRef<MetricsHistory['activations'][number]>('ActivationBucket')
  .implement({
    description: 'The number of licenses that were used for the first time in a bucket.',
    fields: (t) => ({
      startsAt: t.expose('startsAt', { type: 'DateTime', description: 'The start of the bucket.' }),
      count: t.exposeInt('count', { description: 'The number of licenses.' }),
    }),
  });

const ExpiryDay = builder.objectRef<MetricsHistory['expiries'][number]>('ExpiryDay').implement({
  description: 'The number of licenses that expire on a day.',
  fields: (t) => ({
    day: t.expose('day', { type: 'DateTime', description: 'The start of the day, in UTC.' }),
    count: t.exposeInt('count', { description: 'The number of licenses.' }),
  }),
});

/** Verdicts that a bucket has: there are more, but few occur. */
const codesOfBucket = 10;
const mostBuckets = Math.max(...Object.values(metricsPeriods).map(({ buckets }) => buckets));

const MetricsHistoryType = builder.objectRef<MetricsHistory>('MetricsHistory').implement({
  description:
    'Figures for charts. Buckets begin at multiples of their length, in UTC; the last one is the current one.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'The start of the first bucket.' }),
    to: t.expose('to', {
      type: 'DateTime',
      description: 'The end of the last bucket, which is in the future.',
    }),
    bucketSeconds: t.exposeInt('bucketSeconds', { description: 'The length of a bucket in seconds.' }),
    validations: t.field({
      type: [ValidationBucket],
      description:
        'Verdicts by bucket and code, oldest first; those that did not occur are omitted. They are kept for 31 days.',
      complexity: { field: 1, multiplier: mostBuckets * codesOfBucket },
      resolve: ({ validations }) => [...validations],
    }),
    activations: t.field({
      type: [ActivationBucket],
      description:
        'First uses of licenses in every bucket, oldest first. They go back as far as events are kept: 30 days, or as long as the operator decides.',
      complexity: { field: 1, multiplier: mostBuckets },
      resolve: ({ activations }) => [...activations],
    }),
    expiries: t.field({
      type: [ExpiryDay],
      description: `Active licenses that will expire, on each of the next ${expiryDays} days in UTC, from today on.`,
      complexity: { field: 1, multiplier: expiryDays },
      resolve: ({ expiries }) => [...expiries],
    }),
    licenses: t.expose('licenses', { type: LicenseCounts, description: 'The licenses as they are now.' }),
  }),
});

builder.queryField('metricsHistory', (t) =>
  t.field({
    type: MetricsHistoryType,
    nullable: true,
    description:
      'Figures of a period for one of your applications, or for all of them. Null comes with an error. Errors: APP_NOT_FOUND.',
    args: {
      period: t.arg({ type: metricsPeriod, required: true, description: 'The period.' }),
      applicationId: t.arg.id({
        description: 'Only this application; without it: all of your applications.',
      }),
    },
    // It adds up the counts of a month: as much as many rows.
    complexity: { field: 1_000, multiplier: 1 },
    resolve: (_parent, args, { service }) => metricsHistory({ ctx: service, input: withoutNulls(args) }),
  }),
);
