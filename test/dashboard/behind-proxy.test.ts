import { createServer, request, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasChromium } from '../setup/chromium-program.ts';
import { useWorld } from '../setup/use-world.ts';
import { signIn, useBrowser } from './browser.ts';

const { server, world } = useWorld();

/** A reverse proxy that serves the service below a prefix, and knows nothing else. */
const prefix = '/tools/latchkey';
const portOf = (listening: Server): number => {
  const address = listening.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

let proxy: Server;
let publicUrl = '';
beforeAll(async () => {
  const target = new URL(server.baseUrl);
  proxy = createServer((incoming, outgoing) => {
    if (!incoming.url?.startsWith(`${prefix}/`)) {
      outgoing.writeHead(404).end();
      return;
    }
    const forwarded = request(
      {
        host: target.hostname,
        port: target.port,
        method: incoming.method,
        path: incoming.url.slice(prefix.length),
        headers: incoming.headers,
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    outgoing.on('close', () => forwarded.destroy());
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  publicUrl = `http://127.0.0.1:${portOf(proxy)}${prefix}`;
});
afterAll(() => {
  proxy.closeAllConnections();
  proxy.close();
});
const browser = useBrowser();

test.skipIf(!hasChromium)('the dashboard works below a prefix', async () => {
  const application = await world.createApplication({ name: 'Behind' });
  const { page } = await browser.visit(publicUrl);
  await page.goto(`${publicUrl}/`);
  await page.waitForURL(`${publicUrl}/app/sign-in**`);
  await signIn(page, world.login);
  await page.getByText('Live', { exact: true }).first().waitFor();
  // A reload in the depth, and a link from there.
  await page.goto(`applications/${application.id}/licenses`);
  await page.getByRole('heading', { name: 'Licenses', level: 1 }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Licenses', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Policies' }).click();
  await page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor();
  expect(page.url()).toBe(`${publicUrl}/app/applications/${application.id}/policies`);
  await page.goBack();
  await page.getByRole('heading', { name: 'Licenses', level: 1 }).waitFor();
  // Without a session, it leads to the sign-in and back.
  await page.context().clearCookies();
  await page.goto('account/security');
  await page.waitForURL(/sign-in\?next=%2Faccount%2Fsecurity/);
  await page.getByLabel('Email').fill(world.login.email);
  await page.getByLabel('Password').fill(world.login.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${publicUrl}/app/account/security`);
});
