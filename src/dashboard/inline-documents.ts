import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const generated = new URL('generated/graphql.ts', import.meta.url);
const importLine = /import \{ graphql \} from '[^']*generated\/gql\.ts';/;
const call = /graphql\(`\s*(query|mutation|subscription|fragment) (\w+)[^`]*`\)/g;

/**
 * Puts the text of each operation where its `graphql(...)` stands. Otherwise the first screen loads the operations of all
 * screens, each of them twice: the generated `graphql` is a map from the written text to the whole one.
 */
export const inlineDocuments = (): Plugin => ({
  name: 'inline-documents',
  enforce: 'pre',
  transform(code) {
    if (!importLine.test(code)) return;
    const documents = readFileSync(generated, 'utf8');
    return code.replace(importLine, '').replace(call, (_, kind: string, name: string) => {
      // Fragments are part of the operations' texts; on their own they only carry types.
      if (kind === 'fragment') return "''";
      const [, text] =
        new RegExp(`const ${name}Document = new TypedDocumentString\\(\`([^\`]*)`).exec(documents) ?? [];
      if (text === undefined) throw new Error(`${name} is not generated: run npm run generate.`);
      return JSON.stringify(text.replace(/\s+/g, ' ').trim());
    });
  },
});
