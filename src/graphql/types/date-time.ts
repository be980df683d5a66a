import { GraphQLError } from 'graphql';
import { z } from 'zod';
import { builder } from '../builder.ts';

const instant = z.iso.datetime();

builder.scalarType('DateTime', {
  description: 'An instant: ISO 8601 in UTC, with milliseconds.',
  serialize: (value) => value.toISOString(),
  parseValue: (value) => {
    const parsed = instant.safeParse(value);
    if (!parsed.success) throw new GraphQLError('must be an ISO 8601 instant in UTC');
    return new Date(parsed.data);
  },
});
