import { GraphQLError } from 'graphql';
import { builder } from '../builder.ts';

builder.scalarType('JSONObject', {
  description: 'A JSON object whose members vary; its members cannot be selected.',
  serialize: (value) => value,
  // The verb that takes the object parses its members.
  parseValue: (value) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    throw new GraphQLError('JSONObject must be a JSON object.');
  },
});
