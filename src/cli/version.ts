import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const manifest = z.object({ version: z.string() });

/** The version of this installation; the same file from `src/cli` and from `dist/cli`. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return manifest.parse(JSON.parse(text)).version;
}
