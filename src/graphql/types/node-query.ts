import { brandWithType } from '@pothos/core';
import { accountSessionTable } from '../../services/account-session/lists.ts';
import { requireAuthenticated } from '../../services/actor.ts';
import { apiKeyTable } from '../../services/api-key/lists.ts';
import { applicationTable } from '../../services/application/lists.ts';
import { me } from '../../services/auth/me.ts';
import { banTable } from '../../services/ban/lists.ts';
import { deviceTable } from '../../services/device/lists.ts';
import { endUserTable } from '../../services/end-user/lists.ts';
import { findOwnTable } from '../../services/find-own-table.ts';
import { licenseTable } from '../../services/license/lists.ts';
import type { ListTable } from '../../services/list-source.ts';
import { policyTable } from '../../services/policy/lists.ts';
import { securityLogTable } from '../../services/security-log/lists.ts';
import { deliveryTable, webhookTable } from '../../services/webhook/lists.ts';
import { builder } from '../builder.ts';
import { toOne } from '../to-one.ts';
import { AccountSession } from './account-session.ts';
import { ApiKey } from './api-key.ts';
import { Application } from './application.ts';
import { Ban } from './ban.ts';
import { Developer } from './developer.ts';
import { Device } from './device.ts';
import { EndUser } from './end-user.ts';
import { License } from './license.ts';
import { Node } from './node.ts';
import { Policy } from './policy.ts';
import { SecurityLogEntry } from './security-log.ts';
import { Webhook, WebhookDelivery } from './webhook.ts';

const nodeType = <Type>(type: Type, table: ListTable) => ({ type, table, find: toOne(table) });

/** The types that implement Node, except the developer, which can only be the caller. */
const types = {
  Application: nodeType(Application, applicationTable),
  License: nodeType(License, licenseTable),
  Device: nodeType(Device, deviceTable),
  EndUser: nodeType(EndUser, endUserTable),
  Ban: nodeType(Ban, banTable),
  ApiKey: nodeType(ApiKey, apiKeyTable),
  AccountSession: nodeType(AccountSession, accountSessionTable),
  Policy: nodeType(Policy, policyTable),
  Webhook: nodeType(Webhook, webhookTable),
  WebhookDelivery: nodeType(WebhookDelivery, deliveryTable),
  SecurityLogEntry: nodeType(SecurityLogEntry, securityLogTable),
};

builder.queryField('node', (t) =>
  t.field({
    type: Node,
    nullable: true,
    description:
      'Fetches an object by its id. An API key needs the scope of its type, such as licenses:read. Null without an error if you have no object with this id; otherwise null comes with an UNAUTHENTICATED or INSUFFICIENT_SCOPE error.',
    args: { id: t.arg.id({ required: true, description: 'The id of the object.' }) },
    // It looks into every table.
    complexity: { field: 10, multiplier: 1 },
    resolve: async (_parent, { id }, context, info) => {
      const { service } = context;
      if (id === requireAuthenticated(service.actor).developerId) {
        const developer = await me({ ctx: service });
        brandWithType(developer, Developer);
        return developer;
      }
      const name = await findOwnTable(service, types, id);
      if (name === null) return null;
      const row = await types[name].find(id, context, info);
      brandWithType(row, types[name].type);
      return row;
    },
  }),
);
