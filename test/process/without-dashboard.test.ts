import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root, startServiceProcess } from '../setup/process.ts';

/** A copy of the build without the dashboard's files. */
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'without-dashboard-'));
  await cp(join(root, 'dist'), join(folder, 'dist'), {
    recursive: true,
    filter: (source) =>
      !['dashboard', 'embedded', 'packages'].includes(basename(source)) || source.includes('/db/'),
  });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  for (const name of ['node_modules', 'prisma', 'dist/embedded'])
    await symlink(join(root, name), join(folder, name));
});
afterAll(() => rm(folder, { recursive: true }));

test('a build without the dashboard starts, says so, and shows browsers what there is', async () => {
  const service = await startServiceProcess({ DATA_DIR: 'memory:' }, { installation: folder });
  try {
    await expect.poll(() => service.output()).toContain('This build has no dashboard');
    const headers = { accept: 'text/html' };
    const start = await fetch(`${service.url}/`, { headers, redirect: 'manual' });
    expect(start.status).toBe(200);
    expect(await start.text()).toContain('API reference');
    const page = await fetch(`${service.url}/app/`, { headers });
    expect(page.status).toBe(404);
    expect(await page.text()).toContain('npm run build');
  } finally {
    await service.stop();
  }
});
