import { GraphQLError } from 'graphql';
import { builder } from '../builder.ts';

builder.scalarType('JSONObject', {
  description: 'A JSON object whose members vary. Output only; its members cannot be selected.',
  serialize: (value) => value,
  parseValue: () => {
    throw new GraphQLError('JSONObject is no input');
  },
});
