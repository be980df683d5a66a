import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { chromiumProgram, hasChromium } from '../setup/chromium-program.ts';

/** Chromium asks nobody but the service: in a closed network its own requests would only fail. */
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** What must not happen on any page. */
export interface Faults {
  /** Errors and warnings of the console, among them violations of the page's policy; errors that were not caught. */
  readonly messages: string[];
  /** Requests to other hosts. */
  readonly foreign: string[];
}

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly faults: Faults;
}

export interface TestBrowser {
  /** Opens a browser profile of its own at a path of the dashboard. */
  visit(baseUrl: string, options?: BrowserContextOptions): Promise<Visitor>;
}

/**
 * One Chromium for a file. After each file, no page may have had a fault. Call it after `useWorld`, so that it is closed
 * before the service, whose end breaks off streams.
 */
export function useBrowser(): TestBrowser {
  let browser: Browser | undefined;
  const all: Faults[] = [];
  beforeAll(async () => {
    if (!hasChromium) return;
    browser = await chromium.launch({ executablePath: chromiumProgram ?? '', args });
  });
  afterAll(async () => {
    await browser?.close();
    expect(all.flatMap(({ messages }) => messages)).toEqual([]);
    expect(all.flatMap(({ foreign }) => foreign)).toEqual([]);
  });
  return {
    visit: async (baseUrl, options) => {
      if (browser === undefined) throw new Error('The browser is started before the tests.');
      const context = await browser.newContext({
        baseURL: `${baseUrl}/app/`,
        reducedMotion: 'reduce',
        ...options,
      });
      // A busy machine can be many times slower.
      context.setDefaultTimeout(60_000);
      const page = await context.newPage();
      const faults = watch(page, baseUrl);
      all.push(faults);
      return { context, page, faults };
    },
  };
}

function watch(page: Page, baseUrl: string): Faults {
  const faults: Faults = { messages: [], foreign: [] };
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      faults.messages.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.messages.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${baseUrl}/`) && !/^(blob|data):/.test(url)) faults.foreign.push(url);
  });
  return faults;
}

interface Login {
  readonly email: string;
  readonly password: string;
}

/** Signs in with the form, and waits for the overview. */
export async function signIn(page: Page, { email, password }: Login): Promise<void> {
  await page.goto('sign-in');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
}
