import type { CodegenConfig } from '@graphql-codegen/cli';

/** What both outputs say in the same way. Enums are unions of their values: they cost nothing at run time. */
const types = {
  useTypeImports: true,
  enumsAsTypes: true,
  strictScalars: true,
};

const scalars = { DateTime: 'string', JSONObject: 'Record<string, unknown>' };

/** Typed documents from the committed schema: those that the tests send, and those of `@latchkey/management`. */
const config: CodegenConfig = {
  schema: 'schema.graphql',
  generates: {
    'test/graphql/generated/': {
      documents: 'test/graphql/operations/*.graphql',
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        ...types,
        documentMode: 'string',
        scalars,
        importExtension: '.ts',
        emitLegacyCommonJSImports: false,
      },
    },
    // Plain plugins: the preset would also publish every document a second time, as keys of a table.
    'src/management/generated/documents.ts': {
      documents: 'src/management/operations/*.graphql',
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        ...types,
        documentMode: 'string',
        scalars: { ID: 'string', ...scalars },
        // Results name the fragments' types, so that an editor shows `LicenseFragment` and not all its fields.
        inlineFragmentTypes: 'combine',
        // A bundler may drop the documents that a program does not name.
        pureMagicComment: true,
        dedupeFragments: true,
      },
    },
  },
};

export default config;
