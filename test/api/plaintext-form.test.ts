import { expect, test } from 'vitest';
import { ApiClient } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';

const server = useServer({ env: { CRYPTO_ENFORCE: 'false' } });

test('if CRYPTO_ENFORCE is false, a plaintext validate succeeds with a top-level message', async () => {
  const world = await createWorld(server);
  const application = await world.createApplication();
  const license = await application.mintOne({ subscriptionTier: 3 });
  const answer = await new ApiClient(server.baseUrl).post(validatePath, {
    appId: application.id,
    clientVersion: application.version,
    licenseKey: license.licenseKey,
  });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    success: true,
    code: 'OK',
    message: 'License is valid.',
    status: 'active',
    expiresAt: null,
    subscriptionTier: 3,
  });
});

test('a plain validate that fails has the message as error', async () => {
  const world = await createWorld(server);
  const application = await world.createApplication();
  await application.settings({ responseMessages: { LICENSE_NOT_FOUND: 'Never heard of it.' } });
  const client = new ApiClient(server.baseUrl);
  const unknown = await client.post(validatePath, { appId: application.id, licenseKey: 'nothing' });
  expect(unknown.status).toBe(404);
  expect(unknown.body).toEqual({
    success: false,
    code: 'LICENSE_NOT_FOUND',
    error: 'Never heard of it.',
    status: null,
    expiresAt: null,
  });
  const outdated = await client.post(validatePath, {
    appId: application.id,
    clientVersion: '0.9',
    licenseKey: 'nothing',
  });
  expect(outdated.status).toBe(403);
  expect(outdated.body).toMatchObject({ success: false, code: 'APP_OUTDATED' });
});

test('a plain validate of a wrong shape or application is refused', async () => {
  const client = new ApiClient(server.baseUrl);
  const shapeless = await client.post(validatePath, { licenseKey: 'x' });
  expect(shapeless.status).toBe(400);
  expect(shapeless.body).toMatchObject({ code: 'VALIDATION_FAILED', issues: [{ path: ['appId'] }] });
  const unknown = await client.post(validatePath, {
    appId: '00000000-0000-7000-8000-000000000000',
    licenseKey: 'x',
  });
  expect(unknown.status).toBe(404);
  expect(unknown.body).toMatchObject({ code: 'APP_NOT_FOUND' });
});

test('sealed requests are still answered sealed', async () => {
  const world = await createWorld(server);
  const application = await world.createApplication();
  const license = await application.mintOne();
  const session = await openSession(server, application);
  expect(await session.ask(validatePath, { licenseKey: license.licenseKey })).toMatchObject({ code: 'OK' });
});
