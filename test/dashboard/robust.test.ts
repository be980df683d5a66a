import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../setup/chromium-program.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';
import { signIn, useBrowser, type Visitor } from './browser.ts';

const { server, world } = useWorld();
const browser = useBrowser();

let application: SeededApplication;
beforeAll(async () => {
  application = await world.createApplication();
});

const open = async (): Promise<Visitor> => {
  const visitor = await browser.visit(server.baseUrl);
  await signIn(visitor.page, world.login);
  return visitor;
};

/** How often the page asks in so many seconds. */
async function asked(page: Page, seconds: number): Promise<number> {
  let count = 0;
  const counts = () => {
    count += 1;
  };
  page.on('request', counts);
  await page.waitForTimeout(seconds * 1_000);
  page.off('request', counts);
  return count;
}

const refusal = (code: string) =>
  `:\n\nevent: next\ndata: ${JSON.stringify({ errors: [{ message: 'No.', extensions: { code } }] })}\n\nevent: complete\ndata:\n\n`;

describe.skipIf(!hasChromium)('sessions', () => {
  test('a tab whose session was ended elsewhere leads to the sign-in, and back afterwards', async () => {
    const { page, context, faults } = await open();
    await page.goto('account/api-keys');
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await expect.poll(() => page.getByText('Live', { exact: true }).count()).toBe(1);
    const other = await context.newPage();
    await other.goto('./');
    await other.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/sign-in\?next=/);
    await page.getByLabel('Email').fill(world.login.email);
    await page.getByLabel('Password').fill(world.login.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    faults.messages.length = 0;
  });

  test('a tab begins anew when it is looked at after another developer has signed in in the next tab', async () => {
    const { page, context } = await open();
    const bob = await createWorld(server);
    await page.goto(`applications/${application.id}/licenses`);
    await page.getByText(world.login.email).first().waitFor();
    const other = await context.newPage();
    await signIn(other, bob.login);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
    await page.waitForURL(`${server.baseUrl}/app/`);
    await page.getByText(bob.login.email).first().waitFor();
    expect(await page.getByText(world.login.email).count()).toBe(0);
  });
});

describe.skipIf(!hasChromium)('streams', () => {
  test.each(['TOO_MANY_SUBSCRIPTIONS', 'TOO_MANY_READS'])(
    'a service that refuses each stream (%s) is asked less and less often',
    async (code) => {
      const { page, faults } = await open();
      await page.route('**/graphql?*', (route) =>
        route.fulfill({ contentType: 'text/event-stream', body: refusal(code) }),
      );
      await page.goto('account/api-keys');
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      await page.waitForTimeout(4_000);
      expect(await asked(page, 6)).toBeLessThan(4);
      faults.messages.length = 0;
    },
  );

  test('a tab that was opened in the background has no stream before it is looked at', async () => {
    const { page, context } = await open();
    const behind = await context.newPage();
    await behind.addInitScript(
      `Object.defineProperty(document, 'visibilityState', { get: () => window.shown ? 'visible' : 'hidden' })`,
    );
    const streams: string[] = [];
    behind.on('request', (request) => request.url().includes('subscription') && streams.push(request.url()));
    await behind.goto('account/api-keys');
    await behind.getByText('Paused in the background').waitFor();
    expect(streams).toEqual([]);
    await behind.evaluate(`window.shown = true; document.dispatchEvent(new Event('visibilitychange'))`);
    await behind.getByText('Live', { exact: true }).waitFor();
    expect(streams).toHaveLength(1);
    await page.close();
  });
});

describe.skipIf(!hasChromium)('a secret that is shown once', () => {
  test('is not lost by Escape, Back, a click beside it, or a shortcut', async () => {
    const { page } = await open();
    await page.goto('account/webhooks');
    await page.getByRole('link', { name: 'API keys' }).click();
    await page
      .getByRole('button', { name: /^Create/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Shop');
    await dialog.getByLabel('Everything', { exact: false }).first().check();
    await page.route('**/graphql', async (route) => {
      const isSlow = route.request().postData()?.includes('mutation ApiKeysCreate') ?? false;
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 1_500));
      await route.continue();
    });
    await dialog.getByRole('button', { name: 'Create key' }).click();
    // While the token is made, too.
    await page.keyboard.press('Escape');
    const token = page.getByRole('dialog', { name: 'The token of Shop' });
    await token.waitFor();
    await page.keyboard.press('Escape');
    await page.goBack();
    await page.mouse.click(5, 5);
    await page.keyboard.press('Control+k');
    await page.waitForTimeout(300);
    expect(await token.isVisible()).toBe(true);
    expect(await page.getByRole('dialog').count()).toBe(1);
    expect(page.url()).toContain('/account/api-keys');
    await token.getByRole('button', { name: 'Close without copying' }).click();
    await token.waitFor({ state: 'detached' });
    const stored = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])',
    );
    expect(stored).not.toMatch(/sk_|token/i);
  });
});

describe.skipIf(!hasChromium)('an act that must be confirmed', () => {
  test('waits for the password, and goes on with what was filled in', async () => {
    const own = await createWorld(server);
    await own.client.post('/api/v1/account/require-confirmation', {
      password: own.login.password,
      requireConfirmation: true,
    });
    const { page } = await browser.visit(server.baseUrl);
    await signIn(page, own.login);
    await page.goto('account/webhooks');
    await page.getByRole('button', { name: 'Create webhook' }).first().click();
    const form = page.getByRole('dialog', { name: 'Create webhook' });
    await form.getByLabel('URL').fill('https://receiver.example.com/x');
    const submit = form.getByRole('button', { name: 'Create webhook' });
    await submit.click();
    const asks = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await asks.waitFor();
    await page.keyboard.press('Escape');
    await asks.waitFor({ state: 'detached' });
    expect(await form.getByText('Nothing was changed').count()).toBe(1);
    expect(await form.getByLabel('URL').inputValue()).toBe('https://receiver.example.com/x');
    await submit.click();
    await asks.getByLabel('Password').fill('wrong');
    await asks.getByRole('button', { name: 'Confirm' }).click();
    await asks.getByRole('alert').waitFor();
    await asks.getByLabel('Password').fill(own.login.password);
    await asks.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('dialog', { name: 'The signing secret' }).waitFor();
  });
});

describe.skipIf(!hasChromium)('a part of the dashboard that cannot be loaded', () => {
  test.each([
    ['after an upgrade, the page is loaded anew', true],
    ['otherwise the page stays, and says so', false],
  ])('%s', async (_, isUpgraded) => {
    const { page, faults } = await open();
    const gone = { status: 404, contentType: 'application/json', body: '{}' };
    let isRead = false;
    await page.route(/assets\/api-keys-[^/]*\.(js|css)$/, (route) =>
      isRead ? route.continue() : route.fulfill(gone),
    );
    if (isUpgraded) {
      await page.route(`${server.baseUrl}/app/`, (route) => {
        isRead = true;
        return route.fulfill({
          contentType: 'text/html',
          body: '<script src="./assets/index-new.js"></script>',
        });
      });
    }
    await page.getByRole('link', { name: 'API keys' }).click();
    if (isUpgraded) await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    else {
      await page.getByText('could not be loaded').waitFor();
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    }
    faults.messages.length = 0;
  });
});

describe.skipIf(!hasChromium)('a whole license key in a search', () => {
  test.each(['licenses', 'users', 'bans', 'log'])('of the %s does not get into an address', async (list) => {
    const { licenseKey, keyPrefix } = await application.mintOne();
    const { page } = await open();
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    page.on('framenavigated', (frame) => urls.push(frame.url()));
    await page.goto(`applications/${application.id}/${list}`);
    await page.getByRole('searchbox').fill(licenseKey);
    await page.getByText(/whole (license )?key/).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe(list === 'licenses' ? keyPrefix : '');
    expect([...urls, page.url()].filter((url) => url.includes(licenseKey))).toEqual([]);
  });
});
