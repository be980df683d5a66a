import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../setup/process.ts';

/** Every Markdown page of the repository, as a path from its root. */
export function listPages(): string[] {
  const skipped = new Set(['node_modules', 'dist', 'data', 'generated', '.git']);
  const pagesIn = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return skipped.has(entry.name) ? [] : pagesIn(path);
      return entry.name.endsWith('.md') ? [path] : [];
    });
  return pagesIn('').sort();
}

export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8');

/** A block of shell commands on a page. */
export interface Step {
  /** The comment above it, such as `tested`; null if there is none. */
  readonly mark: string | null;
  readonly command: string;
  /** The block that follows it directly; null if the page shows no output. */
  readonly output: string | null;
}

const block = /(?:<!-- (.+) -->\n)?```sh\n([\s\S]*?)```\n(?:\n```(?:json)?\n([\s\S]*?)```\n)?/g;

/** The shell commands of a page, in order. */
export const readSteps = (page: string): Step[] =>
  [...readPage(page).matchAll(block)].map(([, mark, command = '', output]) => ({
    mark: mark ?? null,
    command,
    output: output ?? null,
  }));

export const testedSteps = (page: string, mark = 'tested'): Step[] =>
  readSteps(page).filter((step) => step.mark === mark);
