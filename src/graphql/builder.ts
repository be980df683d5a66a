import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import DirectivesPlugin from '@pothos/plugin-directives';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import type PrismaTypes from '../db/generated/pothos.ts';
import { getDatamodel } from '../db/generated/pothos.ts';
import type { GraphqlContext } from './context.ts';

/** The schema builder. It defines no types: each file in types/ adds its own. */
export const builder = new SchemaBuilder<{
  Context: GraphqlContext;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSONObject: { Input: object; Output: object };
  };
  Directives: {
    rateLimit: { locations: 'FIELD_DEFINITION'; args: { limit: number; duration: number } };
  };
}>({
  plugins: [PrismaPlugin, RelayPlugin, DirectivesPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  // Costs are added up once, before execution (query-limits.ts), and not by the plugin in each resolver.
  complexity: { disabled: true },
  prisma: {
    client: (context) => context.service.env.database.prisma,
    dmmf: getDatamodel(),
  },
  relay: {
    cursorType: 'String',
    firstArgOptions: {
      description: 'Returns this many items from the start (newest first): 1 to 200, 50 by default.',
    },
    afterArgOptions: { description: 'With first: start after this cursor (older items).' },
    lastArgOptions: { description: 'Returns this many items from the end (the oldest): 1 to 200.' },
    beforeArgOptions: { description: 'With last: end before this cursor (newer items).' },
    pageInfoTypeOptions: {
      description: 'The position of a page in its list.',
    },
    hasNextPageFieldOptions: { description: 'True if older items exist (forward pagination).' },
    hasPreviousPageFieldOptions: { description: 'True if newer items exist (backward pagination).' },
    startCursorFieldOptions: {
      description: 'The cursor of the first item of the page; null if the page is empty.',
    },
    endCursorFieldOptions: {
      description: 'The cursor of the last item of the page; null if the page is empty.',
    },
  },
});

builder.queryType({ description: 'What a developer can read.' });
builder.mutationType({
  description:
    'What a developer can change. Each mutation takes one input and returns what changed; null comes with an error, and does not affect the other fields of the document.',
});
