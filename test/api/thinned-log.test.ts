import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { expectSuccess, logsAnswer, metricsAnswer, noLimits } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { ...noLimits, LOG_REPEATS: 'hourly' } });
});
afterAll(() => server.close());

test('LOG_REPEATS=hourly stores a repeated validation once, and the metrics count all of them', async () => {
  const { client, createApplication } = await createWorld(server);
  const application = await createApplication();
  const { licenseKey } = await application.mintOne();
  const session = await openSession(server, application, {});
  // The first one activates the license and binds the device, and may end an hour.
  for (let turn = 0; turn < 8; turn += 1) await session.ask(validatePath, { licenseKey, hwid: 'laptop' });
  for (let turn = 0; turn < 2; turn += 1) await session.ask(validatePath, { licenseKey, hwid: 'copy' });
  await server.deps.services.securityLog.flush();
  const { logs } = expectSuccess(await client.get(`/api/v1/apps/${application.id}/logs`), 200, logsAnswer);
  const stored = (code: string) => logs.filter((entry) => entry.code === code).length;
  expect(stored('OK')).toBeLessThanOrEqual(3);
  expect(stored('HWID_MISMATCH')).toBe(2);
  const { metrics } = expectSuccess(await client.get('/api/v1/metrics/overview'), 200, metricsAnswer);
  expect(metrics.validations24h).toMatchObject({ total: 10, byCode: { OK: 8, HWID_MISMATCH: 2 } });
});
