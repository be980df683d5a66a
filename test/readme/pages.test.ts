import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { root } from '../setup/process.ts';
import { listPages, readPage, readSteps } from './pages.ts';

const withoutCode = (text: string): string =>
  text
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));

/** The anchors of a page, by the rules of GitHub: `## Rate limits` is `#rate-limits`, a second one `#rate-limits-1`. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(readPage(page)).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

interface Link {
  /** A path from the root; the page itself for a link within it. */
  readonly file: string;
  readonly anchor: string | null;
}

/** The links of a page that stay in the repository. */
function linksOf(page: string): Link[] {
  const links = withoutCode(readPage(page)).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g);
  return [...links]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor = null] = target.split('#');
      return { file: path === '' ? page : normalize(join(dirname(page), path)), anchor };
    });
}

describe.each(listPages())('%s', (page) => {
  test('links to files and headings that exist', () => {
    for (const { file, anchor } of linksOf(page)) {
      expect(existsSync(join(root, file)), file).toBe(true);
      if (anchor !== null && statSync(join(root, file)).isFile())
        expect([...anchorsOf(file)], file).toContain(anchor);
    }
  });
});

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

const withCommands = ['README.md', 'CONTRIBUTING.md', 'deploy/README.md', 'deploy/three-machines.md'].concat(
  listPages().filter((page) => page.startsWith('docs/')),
);

test.each(withCommands)('every command block of %s is tested, or says why not', (page) => {
  for (const { mark, command } of readSteps(page)) {
    expect(mark, command).toMatch(/^(tested( with a PostgreSQL server)?|not run: .{10,})$/);
    // A page whose commands claim to be tested is one that a test runs.
    if (mark?.startsWith('tested') === true)
      expect(['README.md', 'docs/integrating.md', 'docs/events.md', 'docs/operating.md']).toContain(page);
  }
});

test('every page of docs that a message or a comment of src names exists', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const named = sources.flatMap(
    (file) => readFileSync(join(root, 'src', file), 'utf8').match(/\bdocs\/[\w-]+\.md\b/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(3);
  for (const page of named) expect(existsSync(join(root, page)), page).toBe(true);
});

test.each([...withCommands, 'test/README.md'])('the npm scripts that %s names exist', (page) => {
  for (const [, script = ''] of readPage(page).matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g))
    expect(scripts, script).toHaveProperty([script]);
});

test('the README has at most 150 lines', () => {
  expect(readPage('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

test('docs/README.md lists every page of docs', () => {
  const listed = linksOf('docs/README.md').map(({ file }) => file);
  expect(listed).toEqual(
    expect.arrayContaining(
      listPages().filter((page) => page.startsWith('docs/') && page !== 'docs/README.md'),
    ),
  );
});

test.each(['docs/client.md', 'docs/management.md'])(
  '%s, which is packed as the README of a client, links to nothing that the package lacks',
  (page) => {
    expect(linksOf(page).filter(({ file }) => file !== page)).toEqual([]);
  },
);
