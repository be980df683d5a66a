import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../setup/chromium-program.ts';
import { forFile, useWorld } from '../setup/use-world.ts';
import type { SeededApplication } from '../setup/world.ts';
import { signIn, useBrowser } from './browser.ts';

const { server, world } = useWorld();
const application: SeededApplication = forFile(() => world.createApplication());
const browser = useBrowser();

const passphrase = 'four words that stay private';
const note = 'Order 10482, paid twice';

describe.skipIf(!hasChromium)('private mode', () => {
  let page: Page;
  /** Everything that the browser sent. */
  const sent: string[] = [];
  let keys: readonly string[] = [];
  beforeAll(async () => {
    ({ page } = await browser.visit(server.baseUrl, { viewport: { width: 1280, height: 900 } }));
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
    await signIn(page, world.login);
    await page.goto('account/keys');
  });
  const dialog = () => page.getByRole('dialog');

  test('creates a vault and turns private mode on', async () => {
    await page
      .getByRole('button', { name: /Create a vault|Create vault/ })
      .first()
      .click();
    await dialog().getByLabel('Passphrase', { exact: true }).fill(passphrase);
    await dialog().getByLabel('The same again').fill(passphrase);
    await dialog().getByLabel('Password of your account').fill(world.login.password);
    await dialog().getByLabel('I understand that the passphrase cannot be recovered.').check();
    await dialog().getByRole('button', { name: 'Create vault' }).click();
    await page.getByRole('dialog', { name: 'Create a vault' }).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: /Turn on private mode/ }).click();
    await dialog()
      .getByLabel(/Password/)
      .fill(world.login.password);
    await page
      .getByRole('dialog', { name: /private mode/ })
      .getByRole('button', { name: 'Turn on' })
      .click();
    await page.getByRole('button', { name: /Let the service make keys/ }).waitFor();
  });

  test('mints keys with a note in the browser', async () => {
    // Within the page: the open vault would be locked by loading it again.
    await page.getByRole('link', { name: 'Applications' }).click();
    await page.getByRole('link', { name: 'Photo Lab' }).first().click();
    await page.getByRole('link', { name: 'Mint keys' }).first().click();
    await page.getByLabel('How many keys').fill('2');
    await page.getByLabel('Note').fill(note);
    await page.getByRole('button', { name: /^Mint 2 keys/ }).click();
    await page.getByRole('heading', { name: '2 keys minted', level: 1 }).waitFor();
    const list = page.getByRole('region', { name: 'New license keys' });
    keys = (await list.innerText()).match(/[A-Z2-9]{5}(-[A-Z2-9]{5}){4}/g) ?? [];
    expect(keys).toHaveLength(2);
    await page.getByRole('button', { name: 'Copy all' }).click();
  });

  test('the note can be read after the vault was unlocked again, and not before', async () => {
    await page.goto(`applications/${application.id}/licenses`);
    await page
      .getByRole('link', { name: `${keys[0]?.slice(0, 5)}-` })
      .first()
      .click();
    await page.getByRole('button', { name: 'Suspend…' }).waitFor();
    expect(await page.getByText(note).count()).toBe(0);
    await page.getByRole('button', { name: 'Unlock' }).click();
    await dialog().getByLabel('Passphrase').fill('another passphrase');
    await dialog().getByRole('button', { name: 'Unlock' }).click();
    await dialog().getByText('This is not the passphrase of your vault.').waitFor();
    await dialog().getByLabel('Passphrase').fill(passphrase);
    await dialog().getByRole('button', { name: 'Unlock' }).click();
    await page.getByText(note).waitFor();
  });

  test('neither keys, nor the note, nor the passphrase were ever sent or stored', async () => {
    const stored = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state])',
    );
    const everything = [...sent, String(stored)].join('\n');
    expect(everything).toContain('createBlindLicenses');
    for (const secret of [...keys, note, passphrase]) {
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(encodeURIComponent(secret));
    }
  });
});
