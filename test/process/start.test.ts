import { expect, test } from 'vitest';
import { startServiceProcess } from '../setup/process.ts';

/** What an operator is told when the service cannot start: one sentence with what to do, and no stack. */

// Which error a link-local address without a zone that exists gives depends on the machine.
test.each([
  ['192.0.2.1', /EADDRNOTAVAIL/],
  ['fe80::1', /EINVAL|EADDRNOTAVAIL/],
  ['fe80::1%nowhere', /EINVAL|ENOTFOUND|EADDRNOTAVAIL/],
])('HOST %s is said plainly', async (HOST, code) => {
  const said = await startServiceProcess({ HOST, DATA_DIR: 'memory:' }).then(String, String);
  expect(said).toMatch(/Cannot listen: .*Set HOST to/);
  expect(said).toMatch(code);
  expect(said).not.toMatch(/\n\s+at /);
});
