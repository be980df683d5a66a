import { defaultFieldResolver, type GraphQLField, type GraphQLSchema } from 'graphql';
import { requireAuthenticated } from '../services/actor.ts';
import type { GraphqlContext } from './context.ts';

/** The root fields that need no authentication. New root fields require it by default. */
export const openFields: ReadonlySet<string> = new Set(['register', 'login', 'logout']);

/**
 * Requires an authenticated developer for root fields, before their input is parsed: as in REST, other callers do not
 * learn whether an input is valid. The verbs check the developer as well.
 */
export function requireAuth(schema: GraphQLSchema): GraphQLSchema {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields: GraphQLField<unknown, GraphqlContext>[] = roots.flatMap((type) =>
    Object.values(type?.getFields() ?? {}),
  );
  for (const field of fields) {
    if (openFields.has(field.name)) continue;
    const { resolve = defaultFieldResolver, subscribe } = field;
    const begin = subscribe ?? resolve;
    const guarded: typeof begin = (parent, args, context, info) => {
      requireAuthenticated(context.service.actor);
      return begin(parent, args, context, info);
    };
    if (subscribe === undefined) field.resolve = guarded;
    else field.subscribe = guarded;
  }
  return schema;
}
