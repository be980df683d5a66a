import { describe, expect, test } from 'vitest';
import { checkShippedProxy } from '../setup/own-proxy.ts';
import { hasHaproxy, hasNginx } from '../setup/proxy-programs.ts';

// What the configurations do is tested by proxies.test.ts and postgresql-pair.test.ts.
describe.each([
  ['HAProxy', hasHaproxy],
  ['nginx', hasNginx],
] as const)('the configuration of %s', (kind, isInstalled) => {
  test.skipIf(!isInstalled)('is accepted without a warning', async () => {
    const said = await checkShippedProxy(kind);
    expect(said).toMatch(/^0\n/);
    expect(said).not.toMatch(/warn/i);
  });
});
