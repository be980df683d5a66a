import { beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../setup/chromium-program.ts';
import { useWorld } from '../setup/use-world.ts';
import type { SeededApplication } from '../setup/world.ts';
import { signIn, useBrowser } from './browser.ts';

const { server, world } = useWorld();
const browser = useBrowser();

let application: SeededApplication;
beforeAll(async () => {
  application = await world.createApplication();
  await application.mint({ amount: 2 });
});

const focused = `document.activeElement.id || document.activeElement.tagName`;

describe.skipIf(!hasChromium)('keys and focus', () => {
  test('the focus follows to the next screen, and shortcuts work while a message is shown', async () => {
    const { page } = await browser.visit(server.baseUrl);
    await signIn(page, world.login);
    await page.goto(`applications/${application.id}/licenses`);
    await page.locator('tbody a').first().click();
    await page.waitForURL(/licenses\/[^/]+$/);
    await expect.poll(() => page.evaluate(focused)).toBe('main');
    await page.getByRole('button', { name: /More/ }).click();
    await page.getByRole('menuitem', { name: /Delete/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete license' }).click();
    await page.waitForURL(/licenses$/);
    await page
      .getByText(/^License .* deleted$/)
      .first()
      .waitFor();
    await expect.poll(() => page.locator('tbody [data-index], tbody[data-index]').count()).toBe(1);
    await expect.poll(() => page.evaluate(focused)).toBe('main');
    await page.keyboard.press('j');
    expect(await page.evaluate(focused)).toBe('A');
  });

  test('clicks that come before the button is busy do the act once', async () => {
    const { page } = await browser.visit(server.baseUrl);
    await signIn(page, world.login);
    await page.goto('account/api-keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Once');
    await dialog.getByLabel('Read only').check();
    await page.evaluate(
      `for (const button of document.querySelectorAll('[role="dialog"] button[type="submit"]'))
        for (let click = 0; click < 3; click++) button.click();`,
    );
    const token = page.getByRole('dialog', { name: 'The token of Once' });
    await token.waitFor();
    await token.getByRole('button', { name: 'Done' }).click();
    await token.getByRole('button', { name: 'Close without copying' }).click();
    await expect.poll(() => page.locator('tbody tr[data-index]').count()).toBe(1);
  });

  test('a time is what was typed, digit by digit, in a zone whose offset once had seconds', async () => {
    const { page } = await browser.visit(server.baseUrl, { timezoneId: 'Europe/Berlin', locale: 'en-US' });
    await signIn(page, world.login);
    await page.goto(`applications/${application.id}/log`);
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByRole('menuitem', { name: /Time/ }).click();
    const field = page.getByLabel('From');
    await field.fill('2025-01-02T17:30');
    await field.press('Home');
    for (const key of '07152026') await page.keyboard.press(key);
    expect(await field.inputValue()).toBe('2026-07-15T17:30');
    await page.getByRole('dialog').getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/from=2026-07-15T15%3A30%3A00/);
  });
});
