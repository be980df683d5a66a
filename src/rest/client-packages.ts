import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Hono } from 'hono';
import { packageRoot } from '../lib/package-root.ts';
import type { RestEnv } from './adapter.ts';
import { answerNotBuilt } from './errors.ts';

/** The packages that are served, each as `<name>.tgz`; no other file is. */
const packages = ['latchkey-client', 'latchkey-management'] as const;

interface Served {
  /** File name and time of its last change. */
  readonly version: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

/**
 * The client packages, mounted at `/packages`, so that npm installs them from the running service. The names have no
 * version: each leads to the newest file of its package, also after the packages were built again.
 */
export function clientPackages(folder = join(packageRoot, 'dist/packages')): Hono<RestEnv> {
  const app = new Hono<RestEnv>();
  for (const name of packages) {
    /** Read once, and the same for all requests, because anyone may ask. */
    let served: Served | undefined;
    app.get(`/${name}.tgz`, async (c) => {
      const file = await newestFile(folder, name);
      if (file === null) return answerNotBuilt(c, `The package ${name}`);
      if (served?.version !== file.version) served = await read(file);
      const { bytes, etag } = served;
      const headers = { ETag: etag, 'Cache-Control': 'no-cache' };
      if (c.req.header('if-none-match')?.includes(etag)) return c.body(null, 304, headers);
      return c.body(bytes, 200, { ...headers, 'Content-Type': 'application/gzip' });
    });
  }
  return app;
}

interface Found {
  readonly path: string;
  readonly version: string;
}

/** The file with the highest version; null if there is none. */
async function newestFile(folder: string, name: string): Promise<Found | null> {
  const files = await readdir(folder).catch(() => []);
  const file = files
    .filter((each) => each.startsWith(`${name}-`) && /^\d[\w.+-]*\.tgz$/.test(each.slice(name.length + 1)))
    .sort((left, right) => left.localeCompare(right, 'en', { numeric: true }))
    .at(-1);
  if (file === undefined) return null;
  const path = join(folder, file);
  // It may be replaced at this moment.
  const found = await stat(path).catch(() => null);
  return found && { path, version: `${file} ${found.mtimeMs}` };
}

async function read({ path, version }: Found): Promise<Served> {
  const bytes = new Uint8Array(await readFile(path));
  return { version, bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}
