import { type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql/index.js';
import type { GraphqlContext } from './context.ts';

type Resolver = GraphQLFieldResolver<unknown, GraphqlContext>;

/**
 * Turns errors that resolvers throw synchronously into rejected promises. When a resolver throws in an item of a list, the
 * executor leaves the list without waiting for the promises of earlier items. If one of them then rejects, the rejection
 * is unhandled and ends the process; a client could cause that with an invalid argument.
 *
 * graphql-js had the same fault in the fields of an object (https://github.com/graphql/graphql-js/issues/3528). Its fix for
 * lists (https://github.com/graphql/graphql-js/pull/4643) is neither in version 16 nor in `@graphql-tools/executor`, with
 * which Yoga executes.
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
