import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './types/date-time.ts';
import './types/developer.ts';
import './types/application.ts';

import './types/license.ts';
import './types/license-create.ts';
import './types/license-changes.ts';
import './types/end-user.ts';
import './types/ban.ts';

/** The schema as `schema.graphql` states it, before limits are applied. */
export const schema: GraphQLSchema = builder.toSchema();
