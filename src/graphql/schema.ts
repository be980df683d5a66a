import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './types/date-time.ts';
import './types/developer.ts';
import './types/application.ts';
import './types/application-connection.ts';
import './types/license.ts';
import './types/license-connection.ts';

/** The schema as `schema.graphql` states it, before limits are applied. */
export const schema: GraphQLSchema = builder.toSchema();
