import { type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql/index.js';
import type { GraphqlContext } from './context.ts';

type Resolver = GraphQLFieldResolver<unknown, GraphqlContext>;

/**
 * Has resolvers that throw answer with a promise that is rejected. When one throws in a row of a list, the executor
 * leaves the list at once, and the promises of the rows before it; and one of those that is rejected when nobody waits
 * for it ends the process. A query could do that on purpose, by an argument that is refused.
 */
export function rejectSyncThrows(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve !== undefined) field.resolve = rejecting(field.resolve);
    }
  }
  return schema;
}

const rejecting =
  (resolve: Resolver): Resolver =>
  (parent, given, context, info) => {
    try {
      return resolve(parent, given, context, info);
    } catch (error) {
      return Promise.reject(error);
    }
  };
