import type { CodegenConfig } from '@graphql-codegen/cli';

/** Options of both outputs. Enums are unions of their values, so they have no runtime code. */
const types = {
  useTypeImports: true,
  enumsAsTypes: true,
  strictScalars: true,
};

const scalars = { DateTime: 'string', JSONObject: 'Record<string, unknown>' };

/** Generates typed documents from the committed schema, for the tests, `@latchkey/management` and the dashboard. */
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
    // Plugins instead of the preset, which would include every document a second time, as keys of a map.
    'src/management/generated/documents.ts': {
      documents: 'src/management/operations/*.graphql',
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        ...types,
        documentMode: 'string',
        scalars: { ID: 'string', ...scalars },
        // Result types refer to fragment types, so that an editor shows `LicenseFragment` instead of all its fields.
        inlineFragmentTypes: 'combine',
        // A bundler can drop documents that a program does not use.
        pureMagicComment: true,
        dedupeFragments: true,
      },
    },
    // The dashboard's operations are written where they are used. Masked fragments: a component reads only its own fields.
    'src/dashboard/generated/': {
      documents: ['src/dashboard/**/*.{ts,tsx}', '!src/dashboard/generated/**'],
      preset: 'client',
      presetConfig: { fragmentMasking: { unmaskFunctionName: 'readFragment' } },
      config: {
        ...types,
        documentMode: 'string',
        scalars: { ID: 'string', ...scalars },
        importExtension: '.ts',
        emitLegacyCommonJSImports: false,
      },
    },
  },
};

export default config;
