import { existsSync } from 'node:fs';

const usual = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The browser of the dashboard's tests; undefined if there is none. Debian's package `chromium` is one. */
export const chromiumProgram: string | undefined = [process.env.CHROMIUM_PATH, ...usual].find(
  (path) => path !== undefined && existsSync(path),
);

export const hasChromium: boolean = chromiumProgram !== undefined;
