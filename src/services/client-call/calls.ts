import type { z } from 'zod';
import type { RateLimitName } from '../../ephemeral/rate-limits.ts';
import type { JsonValue } from '../../protocol/canonical-json.ts';
import type { VerdictCode } from '../../protocol/messages.ts';
import { type CallName, callMembers } from '../../protocol/v2/messages.ts';
import type { SealedClient } from '../client-session/answer-sealed.ts';
import { clientAuthVerbs } from '../client-session/client-auth-verbs.ts';
import type { ServiceContext } from '../context.ts';
import { validateLicense } from '../license/validate.ts';
import type { ClientVerbName } from '../service-counts.ts';

/** The members of an answer. */
export type AnswerMembers = Readonly<Record<string, JsonValue>>;

/** A verdict, as a call gives it. */
export type CallVerdict = AnswerMembers & { readonly code: VerdictCode };

/** What a call does once its request is admitted. */
export interface Call {
  readonly name: ClientVerbName;
  /** A limit in addition to the one that every request takes a point of. */
  readonly limit: RateLimitName | null;
  /** Members of a refusal in addition to code and message. */
  readonly malformed: AnswerMembers;
  /** @returns null if the request's members are malformed */
  answer(ctx: ServiceContext, plaintext: unknown, client: SealedClient): Promise<CallVerdict> | null;
}

interface CallDefinition<Body> extends Omit<Call, 'answer'> {
  readonly schema: z.ZodType<Body>;
  readonly answer: (ctx: ServiceContext, body: Body, client: SealedClient) => Promise<CallVerdict>;
}

function call<Body>({ schema, answer, ...rest }: CallDefinition<Body>): Call {
  return {
    ...rest,
    answer: (ctx, plaintext, client) => {
      const body = schema.safeParse(plaintext);
      return body.success ? answer(ctx, body.data, client) : null;
    },
  };
}

const limit = 'clientAuth';

const calls: Readonly<Record<Exclude<CallName, 'lease'>, Call>> = {
  validate: call({
    name: 'validate',
    limit: null,
    schema: callMembers.validate,
    malformed: { status: null, expiresAt: null },
    answer: async (ctx, { licenseKey, hwid = null }, client) => {
      const { outcome, license } = await validateLicense({ ctx, input: { ...client, licenseKey, hwid } });
      return { ...outcome, ...(license !== null && { licenseId: license.id }) };
    },
  }),
  register: call({ ...clientAuthVerbs.register, limit }),
  login: call({ ...clientAuthVerbs.login, limit }),
  upgrade: call({ ...clientAuthVerbs.upgrade, limit }),
};

const byName: ReadonlyMap<string, Call> = new Map(Object.entries(calls));

/** The call of this name; null if there is none. */
export const findCall = (name: string): Call | null => byName.get(name) ?? null;
