import { authenticate } from '../../services/auth/authenticate.ts';
import { type DeveloperView, developerSelect } from '../../services/auth/developer-view.ts';
import { login } from '../../services/auth/login.ts';
import { logout } from '../../services/auth/logout.ts';
import { findSelf, me } from '../../services/auth/me.ts';
import { register } from '../../services/auth/register.ts';
import { columnsOf } from '../../services/list-source.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { withInput, withoutNulls } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';
import { selectedColumns } from '../selected-columns.ts';
import { Node } from './node.ts';

export const keyCreationMode = builder.enumType('KeyCreationMode', {
  values: {
    default: { description: 'The service generates keys and shows each one once.' },
    private: { description: 'The browser generates keys and sends only their hashes to the service.' },
  } as const,
  description: 'Where license keys are generated.',
});

export const Developer = builder.prismaObject('Developer', {
  description: 'A software vendor: the owner of applications and of everything in them.',
  interfaces: [Node],
  select: developerSelect,
});

builder.objectFields(Developer, (t) => ({
  email: t.exposeString('email', { description: 'The email address as it was entered.' }),
  name: t.exposeString('name', { description: 'The display name.' }),
  keyCreationMode: t.expose('keyCreationMode', {
    type: keyCreationMode,
    description: 'Where license keys are generated.',
  }),
  licenseMask: t.exposeString('licenseMask', {
    nullable: true,
    description:
      "The mask of license keys that are created without one; null if the service's default applies.",
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the account was created.' }),
}));

/** What a selection shows of the developer's own row. */
const ownRow = { columns: columnsOf('developers', developerSelect) };

builder.queryField('me', (t) =>
  t.field({
    type: Developer,
    nullable: true,
    description:
      'The authenticated developer. An API key without account:read can select the id and the applications. Null comes with an UNAUTHENTICATED error.',
    resolve: (_parent, _args, { service }, info) => {
      const isRead = selectedColumns(info, ownRow).some((column) => column !== 'id');
      return isRead ? me({ ctx: service }) : findSelf(service);
    },
  }),
);

const RegisterInput = builder.inputType('RegisterInput', {
  description: 'A new account.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'An email address that no account has.' }),
    password: t.string({ required: true, description: '12 to 128 characters.' }),
    name: t.string({ required: true, description: 'The display name.' }),
    turnstileToken: t.string({
      description: 'The token of a solved bot challenge, if the service requires one.',
    }),
  }),
});

const LoginInput = builder.inputType('LoginInput', {
  description: 'The credentials of an account.',
  fields: (t) => ({
    email: t.string({ required: true, description: "The account's email address." }),
    password: t.string({ required: true, description: "The account's password." }),
    turnstileToken: t.string({
      description: 'The token of a solved bot challenge, if the service requires one.',
    }),
    totpCode: t.string({ description: 'The code of the authenticator app, if the account has TOTP on.' }),
    recoveryCode: t.string({ description: 'A recovery code; used only without totpCode.' }),
  }),
});

const LoggedInPayload = builder.objectRef<DeveloperView>('LoggedInPayload').implement({
  description: 'The response sets the session cookie.',
  fields: (t) => ({
    developer: t.field({
      type: Developer,
      description: 'The developer who is now logged in.',
      resolve: (developer) => developer,
    }),
  }),
});

const LogoutPayload = builder.objectRef<{ success: true }>('LogoutPayload').implement({
  description: 'The response clears the session cookie.',
  fields: (t) => ({ success: t.exposeBoolean('success', { description: 'Always true.' }) }),
});

/**
 * Sets the cookie and authenticates the rest of the document as the developer who logged in, so that the fields of the
 * payload are theirs, regardless of who sent the request.
 */
async function logIn(
  context: GraphqlContext,
  { developer, cookieToken }: { developer: DeveloperView; cookieToken: string },
): Promise<DeveloperView> {
  const { service, session } = context;
  session.start(cookieToken);
  const credentials = { cookie: cookieToken, bearer: null };
  const actor = await authenticate(service.env, credentials, service.client);
  context.service = { ...service, actor };
  return developer;
}

builder.mutationFields((t) => ({
  register: t.field({
    ...rateLimited('auth'),
    type: LoggedInPayload,
    ...withInput(RegisterInput, 'The new account.'),
    description:
      'Creates an account and logs in. Errors: EMAIL_TAKEN, BOT_CHALLENGE_FAILED, REGISTRATION_CLOSED.',
    resolve: async (_parent, { input }, context) =>
      logIn(context, await register({ ctx: context.service, input: withoutNulls(input) })),
  }),
  login: t.field({
    ...rateLimited('auth'),
    type: LoggedInPayload,
    ...withInput(LoginInput, 'The credentials.'),
    description:
      'Logs in. An account with TOTP on needs totpCode or recoveryCode. Errors: INVALID_CREDENTIALS, TOTP_REQUIRED, TOTP_INVALID, RATE_LIMITED, BOT_CHALLENGE_FAILED.',
    resolve: async (_parent, { input }, context) =>
      logIn(context, await login({ ctx: context.service, input: withoutNulls(input) })),
  }),
  logout: t.field({
    type: LogoutPayload,
    nullable: true,
    description: 'Ends the session with its open streams, and clears its cookie.',
    resolve: async (_parent, _args, { service, session }) => {
      await logout({ ctx: service, input: { cookie: session.token } });
      session.end();
      return { success: true as const };
    },
  }),
}));
