import SchemaBuilder from '@pothos/core';
import DirectivesPlugin from '@pothos/plugin-directives';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import type PrismaTypes from '../db/generated/pothos.ts';
import { getDatamodel } from '../db/generated/pothos.ts';
import type { GraphqlContext } from './context.ts';

/** The schema's builder. It holds no type: each file of types/ adds its own. */
export const builder = new SchemaBuilder<{
  Context: GraphqlContext;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
  };
  Directives: {
    rateLimit: { locations: 'FIELD_DEFINITION'; args: { limit: number; duration: number } };
  };
}>({
  plugins: [PrismaPlugin, RelayPlugin, DirectivesPlugin],
  defaultFieldNullability: false,
  prisma: {
    client: (context) => context.service.env.database.prisma,
    dmmf: getDatamodel(),
    filterConnectionTotalCount: true,
    maxConnectionSize: 200,
    defaultConnectionSize: 50,
  },
  relay: { cursorType: 'String' },
});

builder.queryType({ description: 'What a developer can look at.' });
builder.mutationType({
  description: 'What a developer can change. Each takes one input and answers what changed.',
});
