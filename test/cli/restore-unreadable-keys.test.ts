/** @module-tag slow */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { noLimits } from '../api/support.ts';
import { ApiClient } from '../setup/api-client.ts';
import { serverUrl } from '../setup/database.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { freshDirectory, freshServerDatabase, succeed } from './places.ts';
import { runCommand } from './run-command.ts';

test.skipIf(serverUrl === null)(
  'a backup with an unreadable private key is restored with --allow-unreadable-keys, and other applications are served',
  async () => {
    const SERVICE_SECRET = randomBytes(32).toString('base64');
    const before = await startTestServer({ database: 'server', env: { SERVICE_SECRET } });
    const world = await createWorld(before);
    const [first, lost] = [await world.createApplication(), await world.createApplication()];
    await world.createApplication();
    const license = await first.mintOne();
    await before.deps.services.database.pool.query(
      'UPDATE applications SET private_key_encrypted = $1 WHERE id = $2',
      [randomBytes(60), lost.id],
    );
    const file = join(await freshDirectory(), 'a.backup');
    await succeed(['backup', file], { ...before.databaseEnv, SERVICE_SECRET }).finally(before.close);

    const env = { DATABASE_URL: await freshServerDatabase(), SERVICE_SECRET };
    const refused = await runCommand(['restore', file], env);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(new RegExp(`1 of 3 applications.*${lost.id}.*--allow-unreadable-keys`));
    // A secret that decrypts no key is a wrong one, even with --allow-unreadable-keys.
    const other = { ...env, SERVICE_SECRET: randomBytes(32).toString('base64') };
    const wrong = await runCommand(['restore', '--allow-unreadable-keys', file], other);
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toMatch(/is not the one of this backup/);

    const run = await succeed(['restore', '--allow-unreadable-keys', file], env);
    expect(run.stderr).toMatch(new RegExp(`WARNING: .*${lost.id}\\. Their customers get UNAVAILABLE`));
    expect(run.stderr).not.toContain(first.id);

    const after = await startTestServer({ database: 'memory', env: { ...noLimits, ...env } });
    onTestFinished(() => after.close());
    const session = await openSession(after, first);
    expect(await session.ask(validatePath, license)).toMatchObject({ code: 'OK' });
    const opened = await new ApiClient(after.baseUrl).post('/api/v1/session/init', {
      appId: lost.id,
      clientNonceB64: randomBytes(32).toString('base64'),
      clientVersion: lost.version,
    });
    expect(opened).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
  },
  120_000,
);
