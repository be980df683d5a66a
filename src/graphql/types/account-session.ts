import { sessionsOfDevelopers } from '../../services/account-session/lists.ts';
import { revokeSession } from '../../services/account-session/revoke.ts';
import { revokeOtherSessions } from '../../services/account-session/revoke-others.ts';
import {
  type AccountSessionRow,
  accountSessionSelect,
  isCurrentSession,
} from '../../services/account-session/view.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { withInput } from '../input.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { Account } from './account.ts';
import { Node } from './node.ts';

export const AccountSession = builder.prismaObject('AccountSession', {
  description: 'A session of the dashboard, from a login until it is ended or has expired.',
  interfaces: [Node],
  select: accountSessionSelect,
});

builder.objectFields(AccountSession, (t) => ({
  current: t.boolean({
    ...reads('id'),
    description: "Whether the request came with this session's cookie.",
    resolve: (session, _args, { service }) => isCurrentSession(service.actor, session),
  }),
  ip: t.exposeString('ip', {
    nullable: true,
    description: 'The address of the login; null if it is unknown.',
  }),
  country: t.exposeString('country', {
    nullable: true,
    description: 'Its country: ISO 3166-1 alpha-2; null if it is unknown.',
  }),
  userAgent: t.exposeString('userAgent', {
    nullable: true,
    description: 'The User-Agent of the login, at most 300 characters; null if there was none.',
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it began.' }),
  lastSeenAt: t.expose('lastSeenAt', {
    type: 'DateTime',
    description: 'When it was last used, to within a minute.',
  }),
  expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends.' }),
}));

export const AccountSessionConnection = connectionType(
  'AccountSessionConnection',
  AccountSession,
  'sessions',
);

builder.objectField(Account, 'sessions', (t) =>
  t.field({
    type: AccountSessionConnection,
    description: 'The sessions of the dashboard that have not ended, newest first.',
    args: t.arg.connectionArgs(),
    ...listField<AccountSessionRow>(sessionsOfDevelopers),
  }),
);

const RevokeSessionInput = builder.inputType('RevokeSessionInput', {
  description: 'The session to end.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The id of the session.' }) }),
});

const RevokeSessionPayload = builder.objectRef<{ id: string }>('RevokeSessionPayload').implement({
  description: 'The ended session.',
  fields: (t) => ({
    revokedSessionId: t.exposeID('id', { description: 'The id of the session.' }),
  }),
});

const RevokeOtherSessionsPayload = builder
  .objectRef<{ revoked: number }>('RevokeOtherSessionsPayload')
  .implement({
    description: 'What was ended.',
    fields: (t) => ({
      revoked: t.exposeInt('revoked', { description: 'The number of listed sessions that were ended.' }),
    }),
  });

builder.mutationFields((t) => ({
  revokeSession: t.field({
    type: RevokeSessionPayload,
    ...withInput(RevokeSessionInput, 'The session to end.'),
    description:
      'Ends a session: its cookie is refused from now on, and its open streams end. It may be the current one. Errors: SESSION_NOT_FOUND.',
    resolve: async (_parent, { input }, { service }) => {
      await revokeSession({ ctx: service, input });
      return input;
    },
  }),
  revokeOtherSessions: t.field({
    type: RevokeOtherSessionsPayload,
    nullable: true,
    description:
      'Ends all sessions except the current one; with an API key, all. Cookies from before the service had sessions end too; if the request came with one, the response sets a new cookie.',
    resolve: async (_parent, _args, { service, session }) => {
      const { revoked, cookieToken } = await revokeOtherSessions({ ctx: service });
      if (cookieToken !== null) session.start(cookieToken);
      return { revoked };
    },
  }),
}));
