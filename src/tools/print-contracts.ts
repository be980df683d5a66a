import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../graphql/schema.ts';
import { createRestApp } from '../rest/rest-app.ts';
import type { Contract } from './contracts/contract.ts';
import { compareOperations } from './contracts/openapi-changes.ts';
import { refuseBreaking, reportDrift } from './contracts/report.ts';
import { compareSchemas } from './contracts/schema-changes.ts';

/**
 * Generates the committed contracts from the code. It refuses a GraphQL schema that breaks clients, unless
 * `--allow-breaking` is given. With `--check`, it writes nothing and fails with a list of changes if a contract differs.
 */
const contracts: readonly Contract[] = [
  {
    path: 'schema.graphql',
    text: `${printSchema(lexicographicSortSchema(schema))}\n`,
    compare: compareSchemas,
    guarded: true,
  },
  { path: 'openapi.json', text: await printOpenApi(), compare: compareOperations, guarded: false },
];

/** The response of `/api/v1/openapi.json`, with a relative server URL that is valid on any host. */
async function printOpenApi(): Promise<string> {
  const answer = await createRestApp('', (_c, next) => next()).request('/openapi.json');
  return `${JSON.stringify(await answer.json(), null, 2)}\n`;
}

const root = new URL('../../', import.meta.url);
const check = process.argv.includes('--check');
const allowBreaking = process.argv.includes('--allow-breaking');

for (const contract of contracts) {
  const file = new URL(contract.path, root);
  const committed = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const judge = check ? reportDrift : refuseBreaking;
  const objection = allowBreaking && !check ? null : await judge(contract, committed);
  if (objection !== null) {
    process.stderr.write(objection);
    process.exitCode = 1;
  } else if (!check) {
    writeFileSync(file, contract.text);
  }
}
