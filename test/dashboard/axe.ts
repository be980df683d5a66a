import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { z } from 'zod';

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const findings = z.array(
  z.object({
    id: z.string(),
    impact: z.string().nullish(),
    help: z.string(),
    nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
  }),
);

/** The serious and critical findings of axe-core on the page that is shown, for WCAG 2.2 AA. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's policy does not restrict.
  const source = await readFile(axeFile, 'utf8');
  await page.evaluate(source);
  const violations: unknown = await page.evaluate(`axe.run(document, {
    runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  }).then(({ violations }) => violations)`);
  return findings
    .parse(violations)
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} ${failureSummary ?? ''}`),
    );
}
