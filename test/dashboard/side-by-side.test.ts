import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../setup/chromium-program.ts';
import { forFile, useWorld } from '../setup/use-world.ts';
import type { SeededApplication } from '../setup/world.ts';
import { signIn, useBrowser } from './browser.ts';

const { server, world } = useWorld();
const application: SeededApplication = forFile(() => world.createApplication());
const browser = useBrowser();

/** Two browsers of one developer, which look at the same thing. Nothing is reloaded. */
describe.skipIf(!hasChromium)('two browsers side by side', () => {
  let one: Page;
  let other: Page;
  beforeAll(async () => {
    [one, other] = await Promise.all([open(), open()]);
  });

  async function open(): Promise<Page> {
    const { page } = await browser.visit(server.baseUrl);
    await signIn(page, world.login);
    return page;
  }

  async function bothAt(path: string): Promise<void> {
    await Promise.all([one, other].map((page) => page.goto(`applications/${application.id}/${path}`)));
    for (const page of [one, other]) await page.getByText('Live', { exact: true }).first().waitFor();
  }

  test('a suspension appears in the other one, and its end too', async () => {
    const { id } = await application.mintOne();
    await bothAt(`licenses/${id}`);
    await one.getByRole('button', { name: 'Suspend…' }).click();
    await one.getByRole('dialog').getByRole('button', { name: 'Suspend license' }).click();
    await other.getByRole('heading', { level: 1, name: /Suspended/ }).waitFor();
    await other.getByRole('group', { name: 'Actions' }).getByRole('button', { name: 'Reinstate' }).click();
    await one.getByRole('heading', { level: 1, name: /Unused/ }).waitFor();
  });

  test('minted licenses appear in the list, and in the count of the navigation', async () => {
    await bothAt('licenses');
    const count = other.getByRole('link', { name: /^Licenses/ });
    const before = await count.innerText();
    const [license] = await application.mint({ amount: 3 });
    await other
      .getByRole('link', { name: license?.keyPrefix ?? '' })
      .first()
      .waitFor();
    await expect.poll(() => count.innerText()).not.toBe(before);
  });

  test('a deleted license leaves the list, and its open screen says that it is gone', async () => {
    const license = await application.mintOne();
    await bothAt('licenses');
    await other.getByRole('link', { name: license.keyPrefix }).first().waitFor();
    await one.goto(`applications/${application.id}/licenses/${license.id}`);
    await one.getByRole('button', { name: 'Suspend…' }).waitFor();
    await world.client.delete(`/api/v1/licenses/${license.id}`);
    await one.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    await expect.poll(() => other.getByRole('link', { name: license.keyPrefix }).count()).toBe(0);
  });

  test('a license that is deleted while its screen loads is not found, and is no error', async () => {
    const license = await application.mintOne();
    let release = () => {};
    const isDeleted = new Promise<void>((resolve) => {
      release = resolve;
    });
    const read: string[] = [];
    await one.route('**/graphql', async (route) => {
      const [, query = ''] = /query (\w+)/.exec(route.request().postData() ?? '') ?? [];
      read.push(query);
      const isPart = query === 'LicenseDevices' || query === 'LicenseTimelinePage';
      if (isPart) await isDeleted;
      // The screen itself hears of the deletion after its parts.
      if (query === 'LicenseScreen' && read.indexOf(query) < read.length - 1) {
        await expect.poll(() => read).toContain('LicenseTimelinePage');
        await sleep(500);
      }
      await route.continue();
    });
    await one.goto(`applications/${application.id}/licenses/${license.id}`);
    await one.getByRole('button', { name: 'Suspend…' }).waitFor();
    await world.client.delete(`/api/v1/licenses/${license.id}`);
    release();
    await one.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    expect(read).toContain('LicenseTimelinePage');
    await one.unroute('**/graphql');
  });

  test('a change of the settings appears in the other one', async () => {
    await bothAt('settings');
    await application.settings({ version: '9.8.7' });
    for (const page of [one, other]) {
      await expect.poll(() => page.getByLabel('Version', { exact: true }).inputValue()).toBe('9.8.7');
    }
  });

  test('a browser that was in the background catches up when it returns', async () => {
    const { id } = await application.mintOne();
    await bothAt(`licenses/${id}`);
    const background = await other.context().newPage();
    await background.bringToFront();
    await world.client.post(`/api/v1/licenses/${id}/suspend`, {});
    await other.bringToFront();
    await other.getByRole('heading', { level: 1, name: /Suspended/ }).waitFor();
    await background.close();
  });
});
