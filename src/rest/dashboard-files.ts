import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { packageRoot } from '../lib/package-root.ts';

/** The built dashboard; `npm run build` writes it. */
const folder = join(packageRoot, 'dist', 'dashboard');

/** The types of files that the build writes; no others are served. */
const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface DashboardAsset {
  readonly name: string;
  readonly contentType: string;
  readonly read: () => Promise<Uint8Array>;
}

export interface DashboardFiles {
  /** The page that every path of the dashboard gets. */
  readonly page: () => Promise<string>;
  /** Files whose names have their hashes. They are listed once, so that no request chooses a path. */
  readonly assets: readonly DashboardAsset[];
}

/** Finds the built dashboard; null if this build has none. */
export function findDashboard(root: string = folder): DashboardFiles | null {
  const names = listed(join(root, 'assets'));
  if (!listed(root).includes('index.html')) return null;
  return {
    page: () => readFile(join(root, 'index.html'), 'utf8'),
    assets: names.flatMap((name) => {
      const contentType = contentTypes[extname(name)];
      if (contentType === undefined) return [];
      return [{ name, contentType, read: () => readFile(join(root, 'assets', name)) }];
    }),
  };
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
