import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../setup/chromium-program.ts';
import { forFile, useWorld } from '../setup/use-world.ts';
import type { SeededApplication } from '../setup/world.ts';
import { signIn, useBrowser } from './browser.ts';

const { server, world } = useWorld();
const application: SeededApplication = forFile(() => world.createApplication());
const browser = useBrowser();

describe.skipIf(!hasChromium)('by keyboard alone', () => {
  let page: Page;
  beforeAll(async () => {
    await application.mint({ amount: 3 });
    ({ page } = await browser.visit(server.baseUrl, { viewport: { width: 1280, height: 900 } }));
    await signIn(page, world.login);
  });

  const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focused = () =>
    page.evaluate(
      'document.activeElement?.innerText || document.activeElement?.getAttribute("aria-label") || ""',
    );

  /** Moves the focus with Tab until it is on something with this text. */
  async function tabTo(text: string): Promise<void> {
    for (let step = 0; step < 60; step += 1) {
      if ((await focused()) === text) return;
      await press('Tab');
    }
    throw new Error(`Tab never reached ${text}`);
  }

  test('Ctrl K finds a screen, and Enter goes there', async () => {
    await press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').waitFor();
    await page.keyboard.type('web');
    await page
      .getByRole('option', { name: /Webhooks/ })
      .first()
      .waitFor();
    await press('Enter');
    await heading('Webhooks');
  });

  test('letters lead to the screens, and ? lists them', async () => {
    await page.goto(`applications/${application.id}/settings`);
    await heading('Settings');
    await press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to the licenses').waitFor();
    await press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await press('g', 'l');
    await heading('Licenses');
  });

  test('j and k move through the list, x selects, / filters, Enter opens', async () => {
    await page.goto(`applications/${application.id}/licenses`);
    await page.getByRole('table', { name: 'Licenses' }).waitFor();
    await press('j', 'x');
    await page.getByText('1 selected').waitFor();
    await press('j', 'j', 'k', 'x');
    await page.getByText('2 selected').waitFor();
    await press('x');
    await page.getByText('1 selected').waitFor();
    await press('/');
    expect(await page.evaluate('document.activeElement.type')).toBe('search');
    await press('Tab');
    await page.goto(`applications/${application.id}/licenses`);
    await page.getByRole('table', { name: 'Licenses' }).waitFor();
    await press('j', 'Enter');
    await page.getByRole('button', { name: 'Ban…' }).waitFor();
  });

  test('mints keys', async () => {
    await press('m');
    await heading('Mint keys');
    await page.getByLabel('How many keys').waitFor();
    await press('Control+Enter');
    await heading(/minted/);
    expect(await focused()).toBe('Save as CSV');
    const [download] = await Promise.all([page.waitForEvent('download'), press('Enter')]);
    expect(download.suggestedFilename()).toMatch(/\.csv$/);
  });

  test('bans and unbans a license', async () => {
    await press('g', 'l');
    await page.getByRole('table', { name: 'Licenses' }).waitFor();
    await press('j', 'Enter');
    await page.getByRole('button', { name: 'Ban…' }).waitFor();
    await tabTo('Ban…');
    await press('Enter');
    await page.getByRole('dialog', { name: 'Ban license' }).waitFor();
    await tabTo('Ban license');
    await press('Enter');
    await heading(/Banned/);
    await tabTo('Unban…');
    await press('Enter');
    await page.getByRole('dialog', { name: /Unban/ }).waitFor();
    await tabTo('Unban license');
    await press('Enter');
    await heading(/Unused/);
  });
});
