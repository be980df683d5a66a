import { expect, test } from 'vitest';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';

const server = useServer();

test('a minted license validates over the sealed protocol', async () => {
  const world = await createWorld(server);
  const application = await world.createApplication();
  const license = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 2 });
  const session = await openSession(server, application);
  const result = await session.ask(validatePath, { licenseKey: license.licenseKey, hwid: 'device-1' });
  expect(result).toMatchObject({ success: true, code: 'OK', status: 'active', subscriptionTier: 2 });
});
