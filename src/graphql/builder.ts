import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
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
    JSONObject: { Input: never; Output: object };
  };
  Directives: {
    rateLimit: { locations: 'FIELD_DEFINITION'; args: { limit: number; duration: number } };
  };
}>({
  plugins: [PrismaPlugin, RelayPlugin, DirectivesPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  // Fields have costs; whether they are too much is asked once, before execution (query-limits.ts).
  complexity: { disabled: true },
  prisma: {
    client: (context) => context.service.env.database.prisma,
    dmmf: getDatamodel(),
  },
  relay: {
    cursorType: 'String',
    firstArgOptions: { description: 'How many to answer from the newest on, 1 to 200; 50 when left out.' },
    afterArgOptions: { description: 'With first: go on after this cursor, to older ones.' },
    lastArgOptions: { description: 'How many to answer from the oldest back, 1 to 200.' },
    beforeArgOptions: { description: 'With last: go back before this cursor, to newer ones.' },
    pageInfoTypeOptions: {
      description: 'Where a range of a list begins and ends, and what lies on either side.',
    },
    hasNextPageFieldOptions: { description: 'Whether older ones follow: ask with first and after.' },
    hasPreviousPageFieldOptions: { description: 'Whether newer ones precede: ask with last and before.' },
    startCursorFieldOptions: { description: 'Cursor of the first one here; null when there is none.' },
    endCursorFieldOptions: { description: 'Cursor of the last one here; null when there is none.' },
  },
});

builder.queryType({ description: 'What a developer can look at.' });
builder.mutationType({
  description:
    'What a developer can change. Each takes one input and answers what changed; null comes with an error, and leaves what its neighbours answer as it is.',
});
