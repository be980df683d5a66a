import { authenticate } from '../../services/auth/authenticate.ts';
import { type DeveloperView, developerSelect } from '../../services/auth/developer-view.ts';
import { login, loginInput } from '../../services/auth/login.ts';
import { logout } from '../../services/auth/logout.ts';
import { me } from '../../services/auth/me.ts';
import { register, registerInput } from '../../services/auth/register.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { parseInput } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';

export const keyCreationMode = builder.enumType('KeyCreationMode', {
  values: {
    default: { description: 'The server makes keys, and shows them once.' },
    private: { description: 'The browser makes keys, and sends the server their hashes.' },
  } as const,
  description: 'Where license keys are made: on the server, or in the browser, which sends hashes alone.',
});

export const Developer = builder.prismaObject('Developer', {
  description: 'A software vendor: the owner of applications and of everything in them.',
  select: developerSelect,
  fields: (t) => ({
    id: t.id({ description: 'UUID, the same as in REST.', resolve: ({ id }) => id }),
    email: t.string({ description: 'The address, as it was given.', resolve: ({ email }) => email }),
    name: t.string({ description: 'What to call the developer.', resolve: ({ name }) => name }),
    keyCreationMode: t.field({
      type: keyCreationMode,
      description: 'Where license keys are made.',
      resolve: (developer) => developer.keyCreationMode,
    }),
    licenseMask: t.string({
      nullable: true,
      description: "The account's license key mask; null for the service's own.",
      resolve: ({ licenseMask }) => licenseMask,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the account was made.',
      resolve: ({ createdAt }) => createdAt,
    }),
  }),
});

builder.queryField('me', (t) =>
  t.field({
    type: Developer,
    nullable: true,
    description: 'The developer who asks. Null comes with an UNAUTHENTICATED error.',
    resolve: (_parent, _args, { service }) => me({ ctx: service }),
  }),
);

const RegisterInput = builder.inputType('RegisterInput', {
  description: 'A new account.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'An e-mail address that has no account yet.' }),
    password: t.string({ required: true, description: '12 to 128 characters.' }),
    name: t.string({ required: true, description: 'What to call you.' }),
    turnstileToken: t.string({
      description: 'Token of a solved bot challenge, where the server asks for one.',
    }),
  }),
});

const LoginInput = builder.inputType('LoginInput', {
  description: 'Credentials of an account.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The address of the account.' }),
    password: t.string({ required: true, description: 'Its password.' }),
    turnstileToken: t.string({
      description: 'Token of a solved bot challenge, where the server asks for one.',
    }),
  }),
});

const LoggedInPayload = builder.objectRef<DeveloperView>('LoggedInPayload').implement({
  description: 'The session cookie is set on this answer.',
  fields: (t) => ({
    developer: t.field({
      type: Developer,
      description: 'Who is logged in now.',
      resolve: (developer) => developer,
    }),
  }),
});

const LogoutPayload = builder.objectRef<{ success: true }>('LogoutPayload').implement({
  description: 'The session cookie is cleared on this answer.',
  fields: (t) => ({ success: t.exposeBoolean('success', { description: 'Always true.' }) }),
});

/**
 * Sets the cookie, and lets the rest of the document be the developer's who logged in: what the payload leads to is
 * theirs, whoever sent the request.
 */
async function logIn(
  context: GraphqlContext,
  { developer, cookieToken }: { developer: DeveloperView; cookieToken: string },
): Promise<DeveloperView> {
  const { service, session } = context;
  session.start(cookieToken);
  const credentials = { cookie: cookieToken, bearer: null };
  const actor = await authenticate(service.env, credentials, service.client.limitKey);
  context.service = { ...service, actor };
  return developer;
}

builder.mutationFields((t) => ({
  register: t.field({
    ...rateLimited('auth'),
    type: LoggedInPayload,
    nullable: true,
    description:
      'Makes an account and logs it in. Errors: EMAIL_TAKEN, BOT_CHALLENGE_FAILED, REGISTRATION_CLOSED.',
    args: { input: t.arg({ type: RegisterInput, required: true, description: 'The new account.' }) },
    resolve: async (_parent, { input }, context) => {
      const granted = await register({ ctx: context.service, input: parseInput(registerInput, input) });
      return logIn(context, granted);
    },
  }),
  login: t.field({
    ...rateLimited('auth'),
    type: LoggedInPayload,
    nullable: true,
    description: 'Logs in. Errors: INVALID_CREDENTIALS, BOT_CHALLENGE_FAILED.',
    args: { input: t.arg({ type: LoginInput, required: true, description: 'The credentials.' }) },
    resolve: async (_parent, { input }, context) =>
      logIn(context, await login({ ctx: context.service, input: parseInput(loginInput, input) })),
  }),
  logout: t.field({
    type: LogoutPayload,
    nullable: true,
    description: 'Clears the session cookie, and ends the streams that were opened with it.',
    resolve: async (_parent, _args, { service, session }) => {
      await logout({ ctx: service, input: { cookie: session.token } });
      session.end();
      return { success: true as const };
    },
  }),
}));
