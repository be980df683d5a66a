import { followSecurityLog, followSecurityLogInput } from '../../services/security-log/follow.ts';
import { builder } from '../builder.ts';
import { breakOffWhenInterrupted } from '../event-stream.ts';
import { parseInput } from '../input.ts';
import { SecurityLogEntry, securityEvent } from './security-log.ts';

builder.subscriptionType({
  description:
    'What a developer can follow, as a stream of server-sent events: ask with Accept: text/event-stream, by GET or POST.',
});

builder.subscriptionField('securityLog', (t) =>
  t.field({
    type: SecurityLogEntry,
    description: `Follows an application's security log: every entry, oldest first, each once. Without \`after\` it begins with what happens from now on.

Keep the id of the last entry you got. When the stream ends or breaks, ask again with that id as \`after\`: you get exactly what came after it, as far back as entries are kept.

Ids begin with the time of the service's clock. After the clock is set back by more than a minute, new entries have lower ids than earlier ones, and the stream continues with them; entries whose time passes again may be delivered again. An \`after\` that lies more than a minute in the future was issued while the clock was ahead: the stream then begins where the ids restarted, or else at the start of the instance, and at most a day ago, and may deliver entries that you already have. Identify entries by their ids.

An entry arrives within a second of what it tells, or two seconds where several instances share the service; longer while a large change is being stored.

The connection breaks off, without \`complete\`, when the service stops or cannot tell whether you have logged out: ask again, as clients of server-sent events do by themselves. The stream ends with an error and \`complete\` when the credential it was opened with ends, by a logout, a new password, revocation, expiry or the end of the account (UNAUTHENTICATED), and when the application is deleted (APP_NOT_FOUND). An account can have 20 streams open (TOO_MANY_SUBSCRIPTIONS). An open stream ends with the same code when the service has no place left and the account has more streams than another one that asks: wait before you ask again.`,
    args: {
      applicationId: t.arg.id({ required: true, description: 'One of your applications.' }),
      after: t.arg.id({
        description: 'The id of the last entry that you have: begin after it. It need not be there any more.',
      }),
      events: t.arg({ type: [securityEvent], description: 'Entries of these kinds alone.' }),
      codes: t.arg.stringList({ description: 'Entries with these verdicts alone; at most 50.' }),
      licenseId: t.arg.id({ description: 'Entries about this license alone.' }),
      userId: t.arg.id({ description: 'Entries about this end user alone.' }),
    },
    subscribe: async (_parent, { applicationId, ...rest }, { service, breakOff }) => {
      const input = { applicationId, ...parseInput(followSecurityLogInput, rest) };
      return breakOffWhenInterrupted(await followSecurityLog({ ctx: service, input }), breakOff);
    },
    resolve: (entry) => entry,
  }),
);
