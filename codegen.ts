import type { CodegenConfig } from '@graphql-codegen/cli';

/** Typed documents from the committed schema, for the operations that the tests send. */
const config: CodegenConfig = {
  schema: 'schema.graphql',
  documents: 'test/graphql/operations/*.graphql',
  generates: {
    'test/graphql/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: 'string',
        useTypeImports: true,
        enumsAsTypes: true,
        strictScalars: true,
        scalars: { DateTime: 'string' },
        importExtension: '.ts',
        emitLegacyCommonJSImports: false,
      },
    },
  },
};

export default config;
