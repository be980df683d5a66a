import { expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createDeps } from '../../src/deps.ts';
import { silent } from '../setup/database.ts';

test('close continues after a failed step, so that the log is written, and rejects at the end', async () => {
  const deps = await createDeps(loadConfig({ DATA_DIR: 'memory:' }), { log: silent });
  const { apiKeyUse, securityLog, database } = deps.services;
  vi.spyOn(apiKeyUse, 'close').mockRejectedValue(new Error('this part failed'));
  const written = vi.spyOn(securityLog, 'close');
  await expect(deps.close()).rejects.toThrow('this part failed');
  expect(written).toHaveBeenCalledOnce();
  await expect(database.pool.query('SELECT 1')).rejects.toThrow();
});
