import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import { oncePerKey } from './once-per-key.ts';
import { rejectSyncThrows } from './reject-sync-throws.ts';
import { requireAuth } from './require-auth.ts';
import { describeScopes } from './required-scopes.ts';
import './types/date-time.ts';
import './types/developer.ts';
import './types/application.ts';
import './types/license.ts';
import './types/policy.ts';
import './types/policy-changes.ts';
import './types/license-create.ts';
import './types/license-bulk.ts';
import './types/license-changes.ts';
import './types/explain.ts';
import './types/license-life.ts';
import './types/device.ts';
import './types/end-user.ts';
import './types/ban.ts';
import './types/json-object.ts';
import './types/security-log.ts';
import './types/account.ts';
import './types/account-security.ts';
import './types/account-session.ts';
import './types/api-key.ts';
import './types/webhook.ts';
import './types/webhook-changes.ts';
import './types/metrics.ts';
import './types/exports.ts';
import './types/node-query.ts';
import './types/security-log-subscription.ts';
import './types/event.ts';

/** The schema as in `schema.graphql`, without the rate limits. */
export const schema: GraphQLSchema = rejectSyncThrows(
  requireAuth(oncePerKey(describeScopes(builder.toSchema()))),
);
