/** @module-tag slow */
import type { CDPSession, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noLimits } from '../api/support.ts';
import { hasChromium } from '../setup/chromium-program.ts';
import { forFile, useWorld } from '../setup/use-world.ts';
import type { SeededApplication } from '../setup/world.ts';
import { signIn, useBrowser } from './browser.ts';

const total = 100_000;
const pages = 200;
const pageSize = 50;
const rowHeight = 36;

const { server, world } = useWorld({ env: noLimits });
const application: SeededApplication = forFile(() => world.createApplication());
const browser = useBrowser();

describe.skipIf(!hasChromium)('with 100,000 licenses', () => {
  let page: Page;
  let debug: CDPSession;
  beforeAll(async () => {
    for (let minted = 0; minted < total; minted += 10_000) await application.mint({ amount: 10_000 });
    const visitor = await browser.visit(server.baseUrl, { viewport: { width: 1280, height: 900 } });
    ({ page } = visitor);
    debug = await visitor.context.newCDPSession(page);
    await signIn(page, world.login);
  });

  /** Bytes that are in use after a collection. */
  async function heap(): Promise<number> {
    await debug.send('HeapProfiler.collectGarbage');
    return z.object({ usedSize: z.number() }).parse(await debug.send('Runtime.getHeapUsage')).usedSize;
  }

  const rows = () => page.locator('tbody tr').count();

  /** Scrolls until a row is shown, page by page, because cursors know no positions. */
  async function scrollTo(row: number): Promise<void> {
    await expect
      .poll(async () => {
        await page.evaluate(`window.scrollTo(0, ${row * rowHeight})`);
        return page.locator(`tr[data-index="${row}"] a`).count();
      })
      .toBe(1);
  }

  test('the list shows its rows and the count, and finds one', async () => {
    await page.goto(`applications/${application.id}/licenses`);
    await page.getByText('100,000').first().waitFor();
    await page.locator('tr[data-index="0"] a').waitFor();
  });

  test(`memory and the number of rows stay the same over ${pages} pages`, { timeout: 600_000 }, async () => {
    for (let at = 1; at <= 50; at += 1) await scrollTo(at * pageSize);
    const [before, shown] = [await heap(), await rows()];
    for (let at = 51; at <= pages; at += 1) await scrollTo(at * pageSize);
    expect(await rows()).toBeLessThanOrEqual(shown + 20);
    expect((await heap()) - before).toBeLessThan(4_000_000);
    // What was passed can be read again.
    await page.evaluate('window.scrollTo(0, 0)');
    await page.locator('tr[data-index="0"] a').waitFor();
  });
});
