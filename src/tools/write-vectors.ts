/** Writes the sealed protocol's test vectors to test/vectors: `npm run vectors`. */
import { writeFileSync } from 'node:fs';
import { vectorFiles } from './vectors/files.ts';

for (const [name, text] of Object.entries(vectorFiles())) {
  writeFileSync(new URL(`../../test/vectors/${name}`, import.meta.url), text);
}
