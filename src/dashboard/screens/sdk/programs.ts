/** What a program must know: the application's `sdkHint`. */
export interface BuiltIn {
  readonly baseUrl: string;
  readonly appId: string;
  readonly version: string;
  readonly publicKeyB64: string;
  readonly protocol: number;
}

/** A file to create, and its text. */
export interface ProgramFile {
  readonly name: string;
  readonly text: string;
}

/** How to try the SDK in one runtime: everything that an empty folder needs. */
export interface Program {
  readonly install: string;
  readonly files: readonly ProgramFile[];
  readonly run: string;
  readonly note: string;
}

const lines = (...texts: readonly string[]): string => texts.join('\n');

/** The service hands out the SDK that fits it. */
export const packageUrl = (baseUrl: string): string =>
  `${baseUrl.replace(/\/$/, '')}/packages/latchkey-client.tgz`;

const installText = (baseUrl: string, ...more: readonly string[]): string =>
  lines('npm init -y', `npm install ${[packageUrl(baseUrl), ...more].join(' ')}`);

const clientText = ({ baseUrl, appId, version, publicKeyB64, protocol }: BuiltIn): string =>
  lines(
    'const client = createClient({',
    `  baseUrl: ${JSON.stringify(baseUrl)},`,
    `  appId: ${JSON.stringify(appId)},`,
    `  version: ${JSON.stringify(version)},`,
    `  publicKeyB64: ${JSON.stringify(publicKeyB64)},`,
    `  protocol: ${protocol},`,
    '});',
  );

const commandLineText = (hint: BuiltIn, file: string): string =>
  lines(
    "import { hostname } from 'node:os';",
    "import { createClient } from '@latchkey/client';",
    '',
    'const licenseKey = process.argv[2];',
    'if (licenseKey === undefined) {',
    `  console.error('Usage: node ${file} LICENSE-KEY');`,
    '  process.exit(2);',
    '}',
    '',
    clientText(hint),
    '',
    '// Any text that identifies this device and never changes on it.',
    'const hwid = hostname();',
    'const answer = await client.validate(licenseKey, { hwid });',
    '',
    "if (answer.kind === 'failure') {",
    '  // This says nothing about the license.',
    "  console.error('No answer:', answer.reason, answer.message);",
    '  process.exitCode = 2;',
    '} else {',
    "  console.log('valid:  ', answer.valid);",
    "  console.log('code:   ', answer.code);",
    "  console.log('message:', answer.message);",
    '  process.exitCode = answer.valid ? 0 : 1;',
    '}',
    '',
  );

export const nodeProgram = (hint: BuiltIn): Program => ({
  install: installText(hint.baseUrl),
  files: [{ name: 'program.mjs', text: commandLineText(hint, 'program.mjs') }],
  run: 'node program.mjs LICENSE-KEY',
  note: 'Needs Node.js 20.19 or newer.',
});

export const typeScriptProgram = (hint: BuiltIn): Program => ({
  install: installText(hint.baseUrl, 'tsx'),
  files: [{ name: 'program.mts', text: commandLineText(hint, 'program.mts') }],
  run: 'npx tsx program.mts LICENSE-KEY',
  note: 'Needs Node.js 20.19 or newer. From 22.18 on, node program.mts runs it without tsx.',
});

export const browserProgram = (hint: BuiltIn): Program => ({
  install: installText(hint.baseUrl, 'esbuild'),
  files: [
    {
      name: 'index.html',
      text: lines(
        '<!doctype html>',
        '<html lang="en">',
        '  <meta charset="utf-8">',
        '  <title>License check</title>',
        '  <pre id="answer"></pre>',
        '  <script type="module" src="bundle.js"></script>',
        '</html>',
        '',
      ),
    },
    {
      name: 'program.js',
      text: lines(
        "import { createClient } from '@latchkey/client';",
        '',
        clientText(hint),
        '',
        '// A browser knows no device. A stored random text stands in for it.',
        "const hwid = localStorage.getItem('device') ?? String(crypto.getRandomValues(new Uint32Array(4)));",
        "localStorage.setItem('device', hwid);",
        '',
        "const licenseKey = prompt('License key') ?? '';",
        'const answer = await client.validate(licenseKey, { hwid });',
        "const lines = answer.kind === 'failure'",
        "  ? ['No answer:', answer.reason, answer.message]",
        "  : ['valid:   ' + answer.valid, 'code:    ' + answer.code, 'message: ' + answer.message];",
        "document.querySelector('#answer').textContent = lines.join('\\n');",
        '',
      ),
    },
  ],
  run: 'npx esbuild program.js --bundle --format=esm --outfile=bundle.js --servedir=.',
  note: 'Open the address that esbuild prints, and enter the license key. Any bundler works without settings.',
});
