import { GraphQLError } from 'graphql';
import { builder } from '../builder.ts';

builder.scalarType('JSONObject', {
  description: 'An object whose members vary: any JSON. It is answered whole, and never taken as input.',
  serialize: (value) => value,
  parseValue: () => {
    throw new GraphQLError('JSONObject is no input');
  },
});
