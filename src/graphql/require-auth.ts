import { defaultFieldResolver, type GraphQLField, type GraphQLSchema } from 'graphql';
import { requireDeveloper } from '../services/actor.ts';
import type { GraphqlContext } from './context.ts';

/** The fields at the root that anyone may ask for. All others are closed, one that is added tomorrow too. */
const openFields: ReadonlySet<string> = new Set(['register', 'login', 'logout']);

/**
 * Lets developers alone through to the schema's root fields, before their input is looked at: as in REST, nobody
 * learns what would be valid. The verbs ask for a developer as well.
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
      requireDeveloper(context.service.actor);
      return begin(parent, args, context, info);
    };
    if (subscribe === undefined) field.resolve = guarded;
    else field.subscribe = guarded;
  }
  return schema;
}
