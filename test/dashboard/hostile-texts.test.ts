import { beforeAll, expect, test } from 'vitest';
import { policyAnswer } from '../api/support.ts';
import { hasChromium } from '../setup/chromium-program.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWebhook } from '../setup/webhook-receiver.ts';
import type { SeededApplication, SeededLicense } from '../setup/world.ts';
import { signIn, useBrowser } from './browser.ts';

const { server, world } = useWorld();
const browser = useBrowser();

/** A text that would run if it became HTML. */
const hostile = '"><img src=x onerror="document.title=1"><script>document.title=2</script>';

let application: SeededApplication;
let license: SeededLicense;
let policyId = '';
beforeAll(async () => {
  application = await world.createApplication({ name: hostile });
  license = await application.mintOne({ note: hostile });
  const { client } = world;
  const policy = await client.post(`/api/v1/apps/${application.id}/policies`, {
    code: 'hostile',
    name: hostile,
  });
  policyId = policyAnswer.parse(policy.body).policy.id;
  await client.patch(`/api/v1/licenses/${license.id}`, { tags: [hostile.slice(0, 40)] });
  await application.settings({ responseMessages: { OK: hostile } });
  await createWebhook(client, { url: 'https://receiver.example.com/', description: hostile });
});

test.skipIf(!hasChromium)('texts of vendors and customers are shown as texts', async () => {
  const { page } = await browser.visit(server.baseUrl);
  await signIn(page, world.login);
  const below = `applications/${application.id}`;
  for (const path of [
    'applications',
    `${below}/licenses`,
    `${below}/licenses/${license.id}`,
    `${below}/policies`,
    `${below}/policies/${policyId}`,
    `${below}/settings`,
    `${below}/log`,
    'account/webhooks',
  ]) {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    // In a text or in a field, whole or shortened.
    await expect.poll(() => page.evaluate(shows), { message: path }).toBe(true);
    expect(await page.title()).not.toMatch(/^[12]$/);
    expect(await page.locator('img[src="x"]').count()).toBe(0);
  }
});

const shows = `document.body.innerText.includes('onerror=') ||
  [...document.querySelectorAll('input, textarea, [title]')].some(({ value, title }) => (value ?? title).includes('onerror='))`;
