import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { root } from './process.ts';

/** A package registry with the packages installed here, so that `npm install` needs no network. */
export interface LocalRegistry {
  /** The environment in which npm uses this registry without a cache. */
  readonly env: Readonly<Record<string, string>>;
  /** The requested names, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const manifest = z.looseObject({ name: z.string(), version: z.string() });

/** Starts a registry on loopback. It packs a package when it is requested. */
export async function startLocalRegistry(): Promise<LocalRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-registry-'));
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://registry').pathname).slice(1);
    answer(path, response).catch(() => response.destroy());
  });

  async function answer(path: string, response: ServerResponse): Promise<void> {
    const name = path.replace(/\.tgz$/, '');
    const installed = join(root, 'node_modules', name);
    if (!/^(@[\w.-]+\/)?[\w.-]+$/.test(name) || !existsSync(join(installed, 'package.json'))) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"Not found"}');
    } else if (path === name) {
      asked.push(name);
      const { scripts: _, ...found } = manifest.parse(
        JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')),
      );
      const { version } = found;
      const versions = { [version]: { ...found, dist: { tarball: `${url}${name}.tgz` } } };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
    } else {
      const to = mkdtempSync(join(folder, 'pack-'));
      const options = ['--ignore-scripts', '--silent', '--pack-destination', to];
      const { stdout } = await promisify(execFile)('npm', ['pack', installed, ...options]);
      createReadStream(join(to, stdout.trim())).pipe(response);
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = z.object({ port: z.number() }).parse(server.address());
  const url = `http://127.0.0.1:${address.port}/`;
  return {
    env: {
      npm_config_registry: url,
      npm_config_cache: join(folder, 'cache'),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
    },
    asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
