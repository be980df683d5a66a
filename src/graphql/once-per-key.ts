import { defaultFieldResolver, type GraphQLResolveInfo, type GraphQLSchema, print } from 'graphql';
import { contentHash, Idempotency } from '../services/idempotency.ts';
import type { GraphqlContext } from './context.ts';
import { openFields } from './require-auth.ts';

/**
 * Lets a request's Idempotency-Key apply to each mutation that needs an account: one that was carried out before is not
 * carried out again, and has the same result. Fields below it are read again.
 */
export function oncePerKey(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    if (openFields.has(field.name)) continue;
    const { resolve = defaultFieldResolver } = field;
    field.resolve = (parent, args, context: GraphqlContext, info) => {
      const { idempotencyKey, service } = context;
      if (idempotencyKey === null || service.actor.type !== 'developer') {
        return resolve(parent, args, context, info);
      }
      const idempotency = new Idempotency(service.env, service.actor, {
        key: idempotencyKey,
        route: 'POST /graphql',
        content: contentOf(context, info),
        change: String(info.path.key),
        replayed: context.replayed,
      });
      return resolve(parent, args, { ...context, service: { ...service, idempotency } }, info);
    };
  }
  return schema;
}

/** Computed once for all mutations of a request: there may be many, and megabytes of variables. */
const contents = new WeakMap<GraphqlContext, string>();

/** The hash of the operation with its fragments and variables. */
function contentOf(context: GraphqlContext, info: GraphQLResolveInfo): string {
  const known = contents.get(context);
  if (known !== undefined) return known;
  const { operation, fragments, variableValues } = info;
  const document = [operation, ...Object.values(fragments)].map(print);
  const content = contentHash(JSON.stringify({ document, variables: variableValues }));
  contents.set(context, content);
  return content;
}
