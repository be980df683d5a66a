import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { hasChromium } from '../setup/chromium-program.ts';
import { root, type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { totpCodeOf } from '../setup/second-factor.ts';
import { allowLoopback, type Receiver, startReceiver } from '../setup/webhook-receiver.ts';
import { useBrowser } from './browser.ts';

/**
 * A person with a browser and nothing else, from signing up to signing out, by what the screens say. Each step continues
 * from the one before it.
 */
describe.skipIf(!hasChromium)('a vendor without a terminal', () => {
  let service: ServiceProcess;
  let receiver: Receiver;
  let page: Page;
  let folder = '';
  /** The keys that were minted, and the name of the first one in lists. */
  let keys: readonly string[] = [];
  let prefix = '';
  let recoveryCode = '';

  beforeAll(async () => {
    service = await startServiceProcess({ DATA_DIR: 'memory:', ...allowLoopback });
    receiver = await startReceiver();
    folder = await mkdtemp(join(tmpdir(), 'first-sale-'));
  });
  const browser = useBrowser();
  beforeAll(async () => {
    ({ page } = await browser.visit(service.url, { viewport: { width: 1280, height: 900 } }));
  });
  afterAll(async () => {
    await page.context().close();
    await service.stop();
    await receiver.close();
    await rm(folder, { recursive: true });
  });

  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' });
  const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 });
  const dialog = (name: string | RegExp) => page.getByRole('dialog', { name });
  const navigate = (name: string) =>
    page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: new RegExp(`^${name}`) })
      .click();

  /** One of the buttons beside the heading of a license. */
  const act = (name: string) =>
    page.getByRole('group', { name: 'Actions' }).getByRole('button', { name }).click();

  /** Runs the program that the screen showed, in a folder with the packed SDK. */
  async function runProgram(key: string): Promise<string> {
    const run = promisify(execFile)(process.execPath, ['program.mjs', key], { cwd: folder });
    // It ends with 1 if the license is refused.
    return run.then(
      ({ stdout }) => stdout,
      (refused: unknown) => z.object({ stdout: z.string() }).parse(refused).stdout,
    );
  }

  test('signs up', async () => {
    await page.goto(`${service.url}/`);
    await page.getByRole('link', { name: 'Sign up' }).click();
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password').fill('correct horse battery');
    await button('Create account').click();
    await heading('Overview').waitFor();
  });

  test('creates an application', async () => {
    await page.getByLabel('Name').fill('Photo Lab');
    await button('Create application').click();
    await heading('SDK').waitFor();
  });

  test('mints 5 keys and saves them as CSV', async () => {
    await page.getByRole('link', { name: 'Mint a key' }).first().click();
    await page.getByLabel('How many keys').fill('5');
    await button(/^Mint 5 keys/).click();
    await heading('5 keys minted').waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), button('Save as CSV').click()]);
    const [header, ...lines] = (await readFile(await file.path(), 'utf8')).trim().split(/\r?\n/);
    expect(header).toContain('licenseKey');
    keys = lines.map((line) => /[A-Z2-9]{5}(-[A-Z2-9]{5}){4}/.exec(line)?.[0] ?? '');
    expect(new Set(keys).size).toBe(5);
    expect(keys).not.toContain('');
    prefix = `${keys[0]?.slice(0, 5)}-`;
  });

  test('sees the first validation arrive, sent by the program that the screen shows', async () => {
    await navigate('SDK');
    await page.getByText('Waiting for the first validation').waitFor();
    const program = await page.getByRole('region', { name: 'program.mjs' }).innerText();
    await installSdk(service.url, folder);
    await writeFile(join(folder, 'program.mjs'), program);
    expect(await runProgram(keys[0] ?? '')).toMatch(/valid:\s+true/);
    await page.getByText(`Your program validated key ${prefix}`).waitFor();
  });

  test('finds the license and sees its device', async () => {
    await navigate('Licenses');
    await page.getByRole('searchbox').fill(prefix);
    await page.waitForURL(/q=/);
    await page.getByRole('link', { name: new RegExp(`^${prefix}`) }).click();
    await heading(new RegExp(prefix)).waitFor();
    await page
      .getByRole('table', { name: /devices/i })
      .getByRole('button', { name: /Release/ })
      .waitFor();
  });

  test('explains why another device is refused', async () => {
    await page.getByLabel('Device (HWID)').fill('another-machine');
    await button('Explain').click();
    await page.getByText('HWID_MISMATCH').first().waitFor();
  });

  test('releases the device', async () => {
    await page
      .getByRole('table', { name: /devices/i })
      .getByRole('button', { name: /Release/ })
      .click();
    await dialog('Release device').getByRole('button', { name: 'Release device' }).click();
    await page
      .getByText(/released/)
      .first()
      .waitFor();
    await expect
      .poll(() =>
        page
          .getByRole('table', { name: /devices/i })
          .getByRole('button', { name: /Release/ })
          .count(),
      )
      .toBe(0);
  });

  test('suspends and reinstates', async () => {
    await act('Suspend…');
    await dialog('Suspend license').getByRole('button', { name: 'Suspend license' }).click();
    await heading(/Suspended/).waitFor();
    expect(await runProgram(keys[0] ?? '')).toMatch(/SUSPENDED/);
    await act('Reinstate');
    await heading(/Active/).waitFor();
    expect(await runProgram(keys[0] ?? '')).toMatch(/valid:\s+true/);
  });

  test('bans and unbans', async () => {
    await act('Ban…');
    await dialog('Ban license').getByRole('button', { name: 'Ban license' }).click();
    await heading(/Banned/).waitFor();
    await act('Unban…');
    await dialog(/Unban/).getByRole('button', { name: 'Unban license' }).click();
    await heading(/Active/).waitFor();
  });

  test('sets a policy', async () => {
    await navigate('Policies');
    await page.getByRole('link', { name: 'Create policy' }).first().click();
    await page.getByLabel('Name', { exact: true }).first().fill('Pro');
    await button('Create policy').click();
    await heading('Pro').waitFor();
    await navigate('Licenses');
    await page.getByRole('link', { name: new RegExp(`^${prefix}`) }).click();
    await button('More').click();
    await page.getByRole('menuitem', { name: 'Apply policy…' }).click();
    await dialog('Apply policy').getByLabel('Policy').selectOption({ label: 'Pro (pro)' });
    await dialog('Apply policy').getByRole('button', { name: 'Apply policy' }).click();
    await page.getByRole('link', { name: 'Pro', exact: true }).waitFor();
  });

  test('adds a webhook and sees a test delivery', async () => {
    await navigate('Webhooks');
    await button(/^(New|Create|Add) (a )?webhook/)
      .first()
      .click();
    await page.getByLabel('URL').fill(receiver.url('/hook'));
    await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click();
    await dialog('The signing secret').getByRole('button', { name: 'Copy secret' }).click();
    await dialog('The signing secret').getByRole('button', { name: 'Done' }).click();
    await button('Send a test').click();
    await expect.poll(() => receiver.at('/hook').length).toBeGreaterThan(0);
    await page
      .getByRole('table', { name: /deliveries/i })
      .getByText('200')
      .first()
      .waitFor();
  });

  test('turns on TOTP', async () => {
    await navigate('Security');
    await button('Turn on two-step sign-in…').click();
    await page.getByRole('dialog').getByLabel('Password').fill('correct horse battery');
    await button('Continue').click();
    const secret = (await dialog(/Scan/).locator('code').innerText()).replaceAll(' ', '');
    await dialog(/Scan/).getByLabel('Code', { exact: true }).fill(totpCodeOf(secret, Date.now()));
    await button('Turn on').click();
    const codes = dialog('Your recovery codes');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      codes.getByRole('button', { name: 'Save as a file' }).click(),
    ]);
    [recoveryCode = ''] = (await readFile(await file.path(), 'utf8')).trim().split('\n').slice(-1);
    await codes.getByRole('button', { name: 'Done' }).click();
    await page.getByText('On', { exact: true }).first().waitFor();
  });

  test('signs out', async () => {
    await button('Sign out').click();
    await heading('Sign in').waitFor();
    await page.goto(`${service.url}/app/account/security`);
    await heading('Sign in').waitFor();
  });

  test('signs in again, with a recovery code, and is where they wanted to be', async () => {
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password').fill('correct horse battery');
    await button('Sign in').click();
    await page.getByLabel('Code').fill(recoveryCode);
    await button('Sign in').click();
    await heading('Security').waitFor();
  });
});

/** Unpacks the client that the service serves, with its packages from this repository. */
async function installSdk(url: string, folder: string): Promise<void> {
  const packed = await fetch(`${url}/packages/latchkey-client.tgz`);
  expect(packed.status, 'npm run pack:clients').toBe(200);
  const target = join(folder, 'node_modules/@latchkey/client');
  await mkdir(target, { recursive: true });
  await writeFile(join(folder, 'client.tgz'), new Uint8Array(await packed.arrayBuffer()));
  await promisify(execFile)('tar', [
    '-xzf',
    join(folder, 'client.tgz'),
    '-C',
    target,
    '--strip-components=1',
  ]);
  for (const name of ['@noble', 'zod'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
}
