import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../graphql/schema.ts';
import { createRestApp } from '../rest/rest-app.ts';

/**
 * Writes the contracts that are committed beside the code that they are printed from; with `--check`, compares them
 * instead, and fails with the first line that differs.
 */
const contracts = [
  { path: 'schema.graphql', text: `${printSchema(lexicographicSortSchema(schema))}\n` },
  { path: 'openapi.json', text: await printOpenApi() },
];

/** What `/api/v1/openapi.json` answers, with an address that holds on any host. */
async function printOpenApi(): Promise<string> {
  const answer = await createRestApp('', []).request('/openapi.json');
  return `${JSON.stringify(await answer.json(), null, 2)}\n`;
}

const root = new URL('../../', import.meta.url);
const check = process.argv.includes('--check');

for (const { path, text } of contracts) {
  const file = new URL(path, root);
  if (!check) {
    writeFileSync(file, text);
    continue;
  }
  const committed = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (committed === text) continue;
  const [before, after] = [committed.split('\n'), text.split('\n')];
  const line = after.findIndex((content, index) => content !== before[index]);
  process.stderr.write(
    `${path} is not what the code says. First difference, line ${line + 1}:\n` +
      `  committed: ${before[line] ?? '(nothing)'}\n  code:      ${after[line] ?? '(nothing)'}\n` +
      'If the change is meant, run: npm run contracts\n',
  );
  process.exitCode = 1;
}
