import { readdirSync, readFileSync } from 'node:fs';
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
  readonly page: string;
  /** Files whose names have their hashes. They are listed once, so that no request chooses a path. */
  readonly assets: readonly DashboardAsset[];
}

/**
 * Reads the page and lists the assets of one build together: a page that is read after another build names other assets.
 * @returns null if this build has no dashboard
 */
export function findDashboard(root: string = folder): DashboardFiles | null {
  const found = readBuild(root);
  return (
    found && {
      page: found.page,
      assets: found.names.flatMap((name) => {
        const contentType = contentTypes[extname(name)];
        if (contentType === undefined) return [];
        return [{ name, contentType, read: () => readFile(join(root, 'assets', name)) }];
      }),
    }
  );
}

function readBuild(root: string): { readonly page: string; readonly names: readonly string[] } | null {
  try {
    return {
      page: readFileSync(join(root, 'index.html'), 'utf8'),
      names: readdirSync(join(root, 'assets')),
    };
  } catch {
    return null;
  }
}
