import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createFullAccount, type FullAccount } from '../graphql/full-account.ts';
import { hasChromium } from '../setup/chromium-program.ts';
import { forFile, useServer } from '../setup/use-world.ts';
import { seriousFindings } from './axe.ts';
import { signIn, useBrowser } from './browser.ts';
import { screensOf } from './screens.ts';

const server = useServer();
const account: FullAccount = forFile(() => createFullAccount(server));
const browser = useBrowser();

const noIds = {
  application: '',
  license: '',
  suspendedLicense: '',
  bannedLicense: '',
  user: '',
  policy: '',
  webhook: '',
};
const names = Object.keys(
  screensOf({
    ids: { ...noIds, deviceRequest: '', device: '', ban: '', key: '', session: '', delivery: '' },
  }),
);

/** The screen has its heading, and nothing is loading any more. */
async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.getByText('Loading…').count()).toBe(0);
}

/** The theme in which the page is shown, after it was painted. */
const shownTheme = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  .then(() => document.documentElement.dataset.theme)`;

/** How far the page can be scrolled sideways. */
const overflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

describe.skipIf(!hasChromium).each([360, 1440])('at %i pixels', (width) => {
  let page: Page;
  beforeAll(async () => {
    ({ page } = await browser.visit(server.baseUrl, {
      viewport: { width, height: 900 },
      colorScheme: 'light',
    }));
    await signIn(page, account.login);
  });

  test.each(names)(
    '%s has a heading, no serious accessibility finding in either theme, and fits',
    async (name) => {
      await page.goto(screensOf(account)[name] ?? '');
      await settled(page);
      expect(await overflow(page)).toBe(0);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await expect.poll(() => page.evaluate(shownTheme)).toBe(colorScheme);
        expect(await seriousFindings(page), colorScheme).toEqual([]);
      }
    },
  );
});

test.skipIf(!hasChromium).each(['sign-in', 'sign-up'])(
  '%s has no serious accessibility finding',
  async (path) => {
    const { page } = await browser.visit(server.baseUrl);
    await page.goto(path);
    await settled(page);
    expect(await seriousFindings(page)).toEqual([]);
  },
);
