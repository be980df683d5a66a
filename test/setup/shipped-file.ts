import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './process.ts';

/** A text of a shipped file, and what a test has instead: its own addresses, ports and paths. */
export type Replacement = readonly [text: string, instead: string];

/** A file of `deploy` with replacements. Every text must be in the file, so that a test cannot lose one. */
export function adaptShipped(file: string, replacements: readonly Replacement[]): string {
  let text = readFileSync(join(root, 'deploy', file), 'utf8');
  for (const [old, instead] of replacements) {
    if (!text.includes(old)) throw new Error(`deploy/${file} has no "${old}"`);
    text = text.replaceAll(old, instead);
  }
  return text;
}
