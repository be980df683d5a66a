import type { GraphQLSchema } from 'graphql';
import type { Scope } from '../services/scopes.ts';

/**
 * The scopes that an API key needs for each root field, all of them; none for those that need no login. The verbs check
 * them; tests compare both. Fields further down need the scope of what they lead to.
 */
export const requiredScopes: Readonly<Record<string, readonly Scope[]>> = {
  'Query.me': ['account:read'],
  'Query.metrics': ['logs:read'],
  'Query.metricsHistory': ['logs:read'],
  'Query.accountExport': [
    'account:read',
    'applications:read',
    'licenses:read',
    'users:read',
    'logs:read',
    'webhooks:read',
  ],
  'Query.endUserExport': ['users:read', 'licenses:read', 'logs:read'],
  'Query.application': ['applications:read'],
  'Query.license': ['licenses:read'],
  'Query.policy': ['licenses:read'],
  'Query.explainLicense': ['licenses:read'],
  'Query.endUser': ['users:read'],
  'Subscription.securityLog': ['logs:read'],
  'Query.events': ['events:read'],
  'Query.webhook': ['webhooks:read'],
  'Subscription.events': ['events:read'],
  'Mutation.register': [],
  'Mutation.login': [],
  'Mutation.logout': [],
  'Mutation.createApplication': ['applications:write'],
  'Mutation.updateApplicationSettings': ['applications:write'],
  'Mutation.deleteApplication': ['applications:write'],
  'Mutation.createLicenses': ['licenses:mint'],
  'Mutation.createBlindLicenses': ['licenses:mint'],
  'Mutation.rotateLicenseKey': ['licenses:mint'],
  'Mutation.createPolicy': ['licenses:write'],
  'Mutation.updatePolicy': ['licenses:write'],
  'Mutation.applyPolicy': ['licenses:write'],
  'Mutation.deletePolicy': ['licenses:write'],
  'Mutation.extendLicenses': ['licenses:write'],
  'Mutation.bulkLicenses': ['licenses:write'],
  'Mutation.setLicenseTier': ['licenses:write'],
  'Mutation.updateLicense': ['licenses:write'],
  'Mutation.renewLicense': ['licenses:write'],
  'Mutation.suspendLicense': ['licenses:write'],
  'Mutation.reinstateLicense': ['licenses:write'],
  'Mutation.banLicense': ['licenses:write'],
  'Mutation.unbanLicense': ['licenses:write'],
  'Mutation.deleteLicense': ['licenses:write'],
  'Mutation.resetLicenseHwid': ['licenses:write'],
  'Mutation.issueOfflineLease': ['licenses:write'],
  'Mutation.renameDevice': ['licenses:write'],
  'Mutation.releaseDevice': ['licenses:write'],
  'Mutation.deleteBan': ['licenses:write'],
  'Mutation.createEndUser': ['users:write'],
  'Mutation.deleteEndUser': ['users:write'],
  'Mutation.resetEndUserHwid': ['users:write'],
  'Mutation.setLicenseMask': ['account:write'],
  'Mutation.setKeyCreationMode': ['account:write'],
  'Mutation.setVault': ['account:write'],
  'Mutation.updateProfile': ['account:write'],
  'Mutation.deleteAccount': ['account:write'],
  'Mutation.createApiKey': ['account:write'],
  'Mutation.updateApiKey': ['account:write'],
  'Mutation.rotateApiKey': ['account:write'],
  'Mutation.revokeApiKey': ['account:write'],
  'Mutation.beginTotp': ['account:write'],
  'Mutation.confirmTotp': ['account:write'],
  'Mutation.disableTotp': ['account:write'],
  'Mutation.renewRecoveryCodes': ['account:write'],
  'Mutation.confirmSession': ['account:write'],
  'Mutation.setRequireConfirmation': ['account:write'],
  'Mutation.revokeSession': ['account:write'],
  'Mutation.revokeOtherSessions': ['account:write'],
  'Mutation.createWebhook': ['webhooks:write', 'events:read'],
  'Mutation.updateWebhook': ['webhooks:write', 'events:read'],
  'Mutation.deleteWebhook': ['webhooks:write'],
  'Mutation.rotateWebhookSecret': ['webhooks:write'],
  'Mutation.testWebhook': ['webhooks:write'],
  'Mutation.replayWebhook': ['webhooks:write', 'events:read'],
  'Mutation.redeliverWebhookDelivery': ['webhooks:write'],
};

/** The root fields whose scope depends on what is found. Their own descriptions say so. */
const dependent: ReadonlySet<string> = new Set(['Query.node']);

/**
 * Adds the needed scopes to the descriptions of the root fields.
 * @throws {TypeError} if a root field has none in the table
 */
export function describeScopes(schema: GraphQLSchema): GraphQLSchema {
  for (const type of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      const name = `${type?.name}.${field.name}`;
      const scopes = requiredScopes[name];
      if (scopes === undefined && !dependent.has(name)) {
        throw new TypeError(`The scopes of ${name} are missing in required-scopes.ts`);
      }
      if (scopes === undefined || scopes.length === 0) continue;
      const needed = `An API key needs the scope ${scopes.join(', ')}.`;
      const isLong = field.description?.includes('\n') === true;
      field.description = `${field.description}${isLong ? '\n\n' : ' '}${needed}`;
    }
  }
  return schema;
}
