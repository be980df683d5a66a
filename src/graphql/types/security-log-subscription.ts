import { followSecurityLog } from '../../services/security-log/follow.ts';
import { builder } from '../builder.ts';
import { breakOffWhenInterrupted } from '../event-stream.ts';
import { withoutNulls } from '../input.ts';
import { SecurityLogEntry, securityEvent } from './security-log.ts';

builder.subscriptionType({
  description:
    'Live streams as server-sent events. Request them by GET or POST with Accept: text/event-stream.',
});

builder.subscriptionField('securityLog', (t) =>
  t.field({
    type: SecurityLogEntry,
    description: `Streams an application's security log: every entry once, oldest first. Without \`after\`, the stream starts with new entries.

Keep the id of the last entry you received. When the stream ends or the connection breaks, subscribe again with that id as \`after\`: you receive exactly the entries after it, as far back as entries are kept.

Ids start with the time of the service's clock. If the clock is set back by more than a minute, new entries have lower ids than earlier ones, and the stream continues with them; entries whose time recurs may be delivered again. If \`after\` lies more than a minute in the future, it was issued while the clock was ahead: the stream then starts where the ids restarted, or else when the instance started, at most a day ago, and may deliver entries that you already have. Deduplicate entries by id.

An entry is delivered within a second of its event, or within two seconds if several instances share the service; later while a large change is being stored.

The connection closes without \`complete\` when the service stops or cannot verify that you are still logged in. Reconnect, as clients of server-sent events do automatically. The stream ends with an error and \`complete\` when the credential that opened it ends, by logout, a new password, revocation, expiry or deletion of the account (UNAUTHENTICATED), and when the application is deleted (APP_NOT_FOUND). An account can have 20 open streams (TOO_MANY_SUBSCRIPTIONS). An open stream ends with the same code when the service has no capacity left and an account with fewer streams subscribes: wait before you reconnect.`,
    args: {
      applicationId: t.arg.id({ required: true, description: 'One of your applications.' }),
      after: t.arg.id({
        description: 'The id of the last entry you received. The entry itself may have been deleted.',
      }),
      events: t.arg({ type: [securityEvent], description: 'Only entries of these kinds.' }),
      codes: t.arg.stringList({ description: 'Only entries with these verdicts; at most 50 verdicts.' }),
      licenseId: t.arg.id({ description: 'Only entries about this license.' }),
      userId: t.arg.id({ description: 'Only entries about this end user.' }),
    },
    subscribe: async (_parent, input, { service, breakOff }) =>
      breakOffWhenInterrupted(
        await followSecurityLog({ ctx: service, input: withoutNulls(input) }),
        breakOff,
      ),
    resolve: (entry) => entry,
  }),
);
