import { expect, test } from 'vitest';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { useServer } from '../setup/use-world.ts';
import { MetricsDocument } from './generated/graphql.ts';
import { createGraphqlWorld, expectRefused, noLimits, payloadOf, visitor } from './support.ts';

const server = useServer({ env: noLimits });

test('metrics are those of REST, with the verdicts as a list, the most frequent first', async () => {
  const { graphql, client, createApplication } = await createGraphqlWorld(server);
  const application = await createApplication();
  await (await createApplication()).settings({ status: 'disabled' });
  const [used, banned, ends, suspended] = await application.mint({ amount: 5, durationSeconds: 60 });
  const session = await openSession(server, application);
  const validate = (licenseKey = 'AAAAA') => session.ask(validatePath, { licenseKey });
  await validate(ends?.licenseKey);
  server.clock.step(61);
  const later = await openSession(server, application);
  const validateLater = (licenseKey = 'AAAAA') => later.ask(validatePath, { licenseKey });
  await client.post(`/api/v1/licenses/${banned?.id}/ban`);
  await client.post(`/api/v1/licenses/${suspended?.id}/suspend`);
  for (let times = 0; times < 3; times++) await validateLater();
  for (let times = 0; times < 2; times++) await validateLater(banned?.licenseKey);
  await validateLater(used?.licenseKey);
  await server.deps.services.securityLog.flush();

  const metrics = payloadOf(await graphql.request(MetricsDocument), 'metrics');
  expect(metrics).toEqual({
    applications: { total: 2, active: 1, disabled: 1 },
    licenses: { total: 5, unused: 1, active: 1, suspended: 1, expired: 1, banned: 1 },
    validations24h: { total: 7, byCode: expect.any(Array) },
  });
  const { byCode, ...validations } = metrics.validations24h;
  expect(byCode.map(({ count }) => count)).toEqual([3, 2, 2]);
  expect(byCode[0]).toEqual({ code: 'LICENSE_NOT_FOUND', count: 3 });
  expect((await client.get('/api/v1/metrics/overview')).body).toEqual({
    success: true,
    metrics: {
      ...metrics,
      validations24h: {
        ...validations,
        byCode: Object.fromEntries(byCode.map(({ code, count }) => [code, count])),
      },
    },
  });
});

test('metrics of an account without anything are zero', async () => {
  const { graphql } = await createGraphqlWorld(server);
  expect(payloadOf(await graphql.request(MetricsDocument), 'metrics')).toEqual({
    applications: { total: 0, active: 0, disabled: 0 },
    licenses: { total: 0, unused: 0, active: 0, suspended: 0, expired: 0, banned: 0 },
    validations24h: { total: 0, byCode: [] },
  });
});

test('metrics are nobody’s without a login', async () => {
  const answer = await visitor(server).request(MetricsDocument);
  expectRefused(answer, 'UNAUTHENTICATED');
  expect(answer.data).toEqual({ metrics: null });
});
