import type { Page } from 'playwright-core';
import { beforeAll, describe, test } from 'vitest';
import { hasChromium } from '../setup/chromium-program.ts';
import { forFile, useWorld } from '../setup/use-world.ts';
import type { SeededApplication } from '../setup/world.ts';
import { signIn, useBrowser } from './browser.ts';

const { server, world } = useWorld();
const application: SeededApplication = forFile(() => world.createApplication());
const browser = useBrowser();

describe.skipIf(!hasChromium)('changing many licenses', () => {
  let page: Page;
  beforeAll(async () => {
    await application.mint({ amount: 60, subscriptionTier: 1 });
    await application.mint({ amount: 5, subscriptionTier: 2 });
    ({ page } = await browser.visit(server.baseUrl, { viewport: { width: 1440, height: 900 } }));
    await signIn(page, world.login);
  });
  const bar = () => page.getByRole('region', { name: 'Selection' });
  const dialog = () => page.getByRole('dialog', { name: /licenses/ });

  async function select(search: string): Promise<void> {
    await page.goto(`applications/${application.id}/licenses${search}`);
    await page.getByLabel('Select all that are loaded').check();
  }

  test('all that match are previewed, changed, and shown in their new state', async () => {
    await select('?tier=1');
    await bar()
      .getByRole('button', { name: /all 60/ })
      .click();
    await bar().getByRole('button', { name: 'Suspend' }).click();
    await dialog().getByRole('region', { name: 'Preview' }).getByText('60').first().waitFor();
    await dialog()
      .getByRole('button', { name: /^Suspend 60 licenses/ })
      .click();
    await dialog().getByRole('table', { name: 'Result of each license' }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`applications/${application.id}/licenses?status=["suspended"]`);
    await page.getByText('60 match').waitFor();
  });

  test('what cannot be changed is said before and after', async () => {
    await select('');
    await bar()
      .getByRole('button', { name: /all 65/ })
      .click();
    await bar().getByRole('button', { name: 'Suspend' }).click();
    const preview = dialog().getByRole('region', { name: 'Preview' });
    await preview
      .getByText('INVALID_TRANSITION')
      .or(preview.getByText(/60 .*(skipped|already)/i))
      .first()
      .waitFor();
    await dialog()
      .getByRole('button', { name: /^Suspend 5 licenses/ })
      .click();
    await dialog()
      .getByText(/Changed/)
      .first()
      .waitFor();
  });

  test('a selection of some changes only these', async () => {
    await page.goto(`applications/${application.id}/licenses?status=["suspended"]`);
    await page.locator('tr[data-index="0"] input').check();
    await page.locator('tr[data-index="1"] input').check();
    await bar().getByText('2 selected').waitFor();
    await bar().getByRole('button', { name: 'Reinstate' }).click();
    await dialog()
      .getByRole('button', { name: /^Reinstate 2 licenses/ })
      .click();
    await dialog().getByRole('table', { name: 'Result of each license' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('63 match').waitFor();
  });
});
