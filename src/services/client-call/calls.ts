import type { z } from 'zod';
import type { RateLimitName } from '../../ephemeral/rate-limits.ts';
import type { JsonValue } from '../../protocol/canonical-json.ts';
import { type AnswerCode, type CallName, callMembers } from '../../protocol/v2/messages.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { SealedClient } from '../client-session/answer-sealed.ts';
import { clientAuthVerbs } from '../client-session/client-auth-verbs.ts';
import { deviceVerbs } from '../client-session/device-verbs.ts';
import type { ServiceContext } from '../context.ts';
import { renewLease } from '../lease/renew.ts';
import { validateWithLease } from '../lease/validate.ts';
import { labelsOf } from '../license/client-facts.ts';
import { isClientRefusal } from '../license/decide.ts';
import { type Validation, validateLicense } from '../license/validate.ts';
import type { ClientVerbName } from '../service-counts.ts';
import { callMessage } from './call-message.ts';

/** The members of an answer. */
export type AnswerMembers = Readonly<Record<string, JsonValue>>;

/** A verdict, as a call gives it. */
export type CallVerdict = AnswerMembers & { readonly code: AnswerCode };

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

const membersOf = ({ outcome, license }: Validation) => ({
  ...outcome,
  // A client that the application refuses does not learn which keys exist.
  ...(license !== null && !isClientRefusal(outcome.code) && { licenseId: license.id }),
});

const refusalOf = (application: ApplicationSnapshot, code: AnswerCode) => ({
  success: false,
  code,
  message: callMessage(application, code),
  status: null,
  expiresAt: null,
});

const calls: Readonly<Record<CallName, Call>> = {
  validate: call({
    name: 'validate',
    limit: null,
    schema: callMembers.validate,
    malformed: { status: null, expiresAt: null },
    answer: async (ctx, { licenseKey, hwid = null, lease: isLeaseAsked = false, ...body }, client) => {
      const input = { ...client, licenseKey, hwid, labels: labelsOf(body) };
      if (!isLeaseAsked) return membersOf(await validateLicense({ ctx, input }));
      const { lease, ...validation } = await validateWithLease({ ctx, input });
      return { ...membersOf(validation), ...(lease !== null && { lease }) };
    },
  }),
  lease: call({
    name: 'lease',
    limit: null,
    schema: callMembers.lease,
    malformed: { status: null, expiresAt: null },
    answer: async (ctx, { licenseKey, hwid, seq: heldSeq, ...body }, client) => {
      const labels = labelsOf(body);
      const input = { ...client, licenseKey, hwid, labels, ...(heldSeq !== undefined && { heldSeq }) };
      const renewal = await renewLease({ ctx, input });
      if (renewal.kind === 'disabled') return refusalOf(client.application, renewal.code);
      const members = membersOf(renewal.validation);
      return renewal.kind === 'leased' ? { ...members, lease: renewal.lease } : members;
    },
  }),
  register: call({ ...clientAuthVerbs.register, limit }),
  login: call({ ...clientAuthVerbs.login, limit }),
  upgrade: call({ ...clientAuthVerbs.upgrade, limit }),
  'devices.list': call({ ...deviceVerbs['devices.list'], limit }),
  'devices.release': call({ ...deviceVerbs['devices.release'], limit }),
  'devices.move': call({ ...deviceVerbs['devices.move'], limit }),
};

const byName: ReadonlyMap<string, Call> = new Map(Object.entries(calls));

/** Finds a call by its name; null for an unknown name. */
export const findCall = (name: string): Call | null => byName.get(name) ?? null;
