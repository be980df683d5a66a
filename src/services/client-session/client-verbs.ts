import { z } from 'zod';
import { protocolVersion } from '../../protocol/constants.ts';
import { type SealedRequest, sessionInitRequest, validateMembers } from '../../protocol/messages.ts';
import type { ServiceContext } from '../context.ts';
import type { ClientAuthOutcome } from '../end-user/client-auth.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { labelsOf } from '../license/client-facts.ts';
import { type ValidateOutcome, validateLicense } from '../license/validate.ts';
import type { ListDevicesOutcome } from '../self-service/list.ts';
import type { MoveDeviceOutcome } from '../self-service/move.ts';
import type { ReleaseDeviceOutcome } from '../self-service/release.ts';
import { answerSealed, type ClientVerbDefinition, type SealedClient } from './answer-sealed.ts';
import { clientAuthVerbs } from './client-auth-verbs.ts';
import { deviceVerbs } from './device-verbs.ts';
import { noteVerdict } from './note-verdict.ts';
import type { SealedAnswer } from './seal-answer.ts';

export type ClientOutcome =
  | ValidateOutcome
  | ClientAuthOutcome
  | ListDevicesOutcome
  | ReleaseDeviceOutcome
  | MoveDeviceOutcome;

/** An operation of client software, sealed or in the plaintext test form. */
export interface ClientVerb {
  /**
   * @throws {ProtocolError} SESSION_EXPIRED, DECRYPT_FAIL, CLOCK_SKEW, REPLAY
   * @throws {ServiceError} UNAVAILABLE
   */
  sealed(ctx: ServiceContext, envelope: SealedRequest): Promise<SealedAnswer>;
  /**
   * The same operation without sealing and signature; only reachable with CRYPTO_ENFORCE=false.
   * @throws {ServiceError} VALIDATION_FAILED, APP_NOT_FOUND, UNAVAILABLE
   */
  plain(ctx: ServiceContext, body: unknown): Promise<ClientOutcome>;
}

/** The session's data in the plaintext test form. The version defaults to the application's. */
const plainClient = z.object({
  appId: sessionInitRequest.shape.appId,
  clientVersion: sessionInitRequest.shape.clientVersion.optional(),
});

function clientVerb<Body>(definition: ClientVerbDefinition<Body, ClientOutcome>): ClientVerb {
  const { name, schema } = definition;
  const answer = async (ctx: ServiceContext, body: Body, client: SealedClient): Promise<ClientOutcome> => {
    const outcome = await definition.answer(ctx, body, client);
    noteVerdict(ctx, name, outcome.code);
    return outcome;
  };
  const verb = { ...definition, answer };
  return {
    sealed: (ctx, envelope) => answerSealed(ctx, envelope, verb),
    plain: async (ctx, input) => {
      const client = parse(plainClient, input);
      const body = parse(schema, input);
      const application = await ctx.env.caches.application(client.appId);
      if (application === null) throw applicationNotFound();
      ctx.notes.applicationId = application.id;
      return answer(ctx, body, {
        application,
        clientVersion: client.clientVersion ?? application.version,
        protocol: protocolVersion,
      });
    },
  };
}

function parse<Output>(schema: z.ZodType<Output>, input: unknown): Output {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw ServiceError.invalidInput(parsed.error.issues);
  return parsed.data;
}

/** The verbs of version 1. */
export const clientVerbs = {
  validate: clientVerb<z.output<typeof validateMembers>>({
    name: 'validate',
    schema: validateMembers,
    malformed: { status: null, expiresAt: null },
    answer: async (ctx, { licenseKey, hwid = null, ...body }, client) => {
      const input = { ...client, licenseKey, hwid, labels: labelsOf(body) };
      return (await validateLicense({ ctx, input })).outcome;
    },
  }),
  register: clientVerb(clientAuthVerbs.register),
  login: clientVerb(clientAuthVerbs.login),
  upgrade: clientVerb(clientAuthVerbs.upgrade),
  'devices.list': clientVerb(deviceVerbs['devices.list']),
  'devices.release': clientVerb(deviceVerbs['devices.release']),
  'devices.move': clientVerb(deviceVerbs['devices.move']),
} as const;
