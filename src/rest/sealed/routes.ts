import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import type { RateLimitName } from '../../ephemeral/rate-limits.ts';
import {
  type FailureVerdictCode,
  plaintextErrorStatus,
  sealedRequest,
  sessionInitRequest,
  sessionInitResponse,
  type VerdictCode,
} from '../../protocol/messages.ts';
import { type ClientVerb, clientVerbs } from '../../services/client-session/client-verbs.ts';
import { initSession } from '../../services/client-session/init.ts';
import { ServiceError } from '../../services/errors.ts';
import { id } from '../../services/fields.ts';
import { type RestContext, type RestEnv, serviceContext } from '../adapter.ts';
import { limitBody } from '../middleware/limit-body.ts';
import { failuresOf, jsonAnswer, openJsonBody, publicContract } from '../route.ts';
import { sealedAnswerSchema } from '../schemas.ts';
import type { ClientAnswer, ClientRoute } from './client-route.ts';
import { readClientBody, readJson } from './read-client-body.ts';

const tags = ['Client protocol'];
const failures = failuresOf({ ...plaintextErrorStatus, PAYLOAD_TOO_LARGE: 413, INTERNAL: 500 });
const alwaysPossible = [
  'VALIDATION_FAILED',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'INTERNAL',
] as const;

const sessionInitRoute = createRoute({
  ...publicContract('session'),
  operationId: 'initSession',
  method: 'post',
  path: '/session/init',
  tags,
  summary: 'Open a sealed session',
  description:
    'The handshake of the client protocol, in plaintext JSON. Verify `signatureB64` with the public key ' +
    'built into the program before anything else: SPEC (`src/protocol/SPEC.md`) §3 and §4. The message of ' +
    'a 403 is the one that the developer set for its code.',
  request: { body: openJsonBody(sessionInitRequest.extend({ appId: id })) },
  responses: {
    200: jsonAnswer('The signed session', sessionInitResponse),
    ...failures(...alwaysPossible, 'APP_DISABLED', 'APP_OUTDATED', 'IP_BANNED', 'APP_NOT_FOUND'),
  },
});

/** A sealed route: its contract, its rate limit and its verb. */
interface SealedRoute {
  readonly path: string;
  readonly operationId: string;
  readonly limit: RateLimitName;
  readonly summary: string;
  /** Members of the inner request in addition to the common ones; `?` marks optional ones. */
  readonly inner: string;
  /** Codes of the inner answer in addition to VALIDATION_FAILED, in order of evaluation (SPEC §10). */
  readonly codes: readonly VerdictCode[];
  readonly verb: ClientVerb;
}

const clientCodes = ['APP_DISABLED', 'APP_OUTDATED', 'IP_BANNED', 'HWID_BANNED'] as const;
const validityCodes = ['LICENSE_NOT_FOUND', 'APP_MISMATCH', 'BANNED', 'SUSPENDED', 'EXPIRED'] as const;
const licenseCodes = [...validityCodes, 'DEVICE_RELEASED', 'HWID_MISMATCH', 'DEVICE_LIMIT'] as const;
const selfServiceCodes = [
  ...clientCodes,
  'INVALID_CREDENTIALS',
  ...validityCodes,
  'SELF_SERVICE_OFF',
] as const;
const moveCodes = ['DEVICE_UNKNOWN', 'MOVE_COOLDOWN', 'MOVES_EXHAUSTED'] as const;
const owner = '`licenseKey`, or `username` and `password`';

const routes: readonly SealedRoute[] = [
  {
    path: '/licenses/validate',
    operationId: 'validateLicense',
    limit: 'validate',
    summary: 'Validate a license; the verdict is inside the sealed response',
    inner: '`licenseKey`, `hwid?`, `deviceName?`, `platform?`',
    codes: [...clientCodes, ...licenseCodes, 'OK'],
    verb: clientVerbs.validate,
  },
  {
    path: '/client/register',
    operationId: 'registerEndUser',
    limit: 'clientAuth',
    summary: 'Register an end user and log them in',
    inner: '`username`, `password`, `email?`, `licenseKey?`, `hwid?`, `deviceName?`, `platform?`',
    codes: [...clientCodes, 'REGISTER_DISABLED', 'LICENSE_REQUIRED', ...licenseCodes, 'USERNAME_TAKEN', 'OK'],
    verb: clientVerbs.register,
  },
  {
    path: '/client/login',
    operationId: 'loginEndUser',
    limit: 'clientAuth',
    summary: 'Log an end user in',
    inner: '`username`, `password`, `hwid?`, `deviceName?`, `platform?`',
    codes: [...clientCodes, 'INVALID_CREDENTIALS', ...licenseCodes, 'OK'],
    verb: clientVerbs.login,
  },
  {
    path: '/client/upgrade',
    operationId: 'upgradeEndUser',
    limit: 'clientAuth',
    summary: 'Move an end user to a license of a higher tier',
    inner: '`username`, `licenseKey`, `hwid?`, `deviceName?`, `platform?`',
    codes: [...clientCodes, 'USER_NOT_FOUND', ...licenseCodes, 'TIER_NOT_HIGHER', 'OK'],
    verb: clientVerbs.upgrade,
  },
  {
    path: '/client/devices/list',
    operationId: 'listOwnDevices',
    limit: 'clientAuth',
    summary: "List the devices of a customer's license",
    inner: `${owner}, \`hwid?\`, \`after?\``,
    codes: [...selfServiceCodes, 'OK'],
    verb: clientVerbs['devices.list'],
  },
  {
    path: '/client/devices/release',
    operationId: 'releaseOwnDevice',
    limit: 'clientAuth',
    summary: "Release a device of a customer's license",
    inner: `${owner}, \`deviceId\`, \`hwid?\``,
    codes: [...selfServiceCodes, ...moveCodes, 'OK'],
    verb: clientVerbs['devices.release'],
  },
  {
    path: '/client/devices/move',
    operationId: 'moveOwnDevice',
    limit: 'clientAuth',
    summary: "Move a customer's license to another device",
    inner: `${owner}, \`hwid\`, \`releaseDeviceId?\`, \`deviceName?\`, \`platform?\``,
    codes: [...selfServiceCodes, ...moveCodes, 'DEVICE_LIMIT', 'OK'],
    verb: clientVerbs['devices.move'],
  },
];

/** Where version 1 is. The document describes its paths without this prefix. */
const base = '/api/v1';
/** In bytes. SPEC §6 limits the ciphertext to a quarter of it. */
const boundBody = limitBody(64 * 1024);

const json = (status: number, body: object): ClientAnswer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});
const ok = (body: object): ClientAnswer => json(200, body);

/**
 * The client protocol. These handlers parse bodies themselves instead of using the router's validator: SPEC fixes the
 * order of checks, and this is the hot path.
 */
export const clientRoutes: readonly ClientRoute[] = [
  {
    pattern: `${base}/session/init`,
    limit: 'session',
    boundBody,
    answer: async (c) => {
      const parsed = sessionInitRequest.safeParse(await readJson(c));
      if (!parsed.success) throw ServiceError.invalidInput(parsed.error.issues);
      const outcome = await initSession({ ctx: serviceContext(c), input: parsed.data });
      if (outcome.accepted) return ok(outcome.answer);
      return json(403, { success: false, error: outcome.message, code: outcome.code });
    },
  },
  ...routes.map(({ path, limit, verb }) => ({
    pattern: `${base}${path}`,
    limit,
    boundBody,
    answer: async (c: RestContext) => {
      const ctx = serviceContext(c);
      const body = await readClientBody(c);
      if (body.sealed) return ok(await verb.sealed(ctx, body.envelope));
      const outcome = await verb.plain(ctx, body.plain);
      if (outcome.success) return ok(outcome);
      const { message: error, ...refusal } = outcome;
      return json(plainStatus(outcome.code), { ...refusal, error });
    },
  })),
];

/** The paths below `/api/v1`. */
export const clientPaths: readonly string[] = ['/session/init', ...routes.map(({ path }) => path)];

/** Adds the client protocol to the OpenAPI document. */
export function registerClientRoutes(api: OpenAPIHono<RestEnv>): void {
  for (const contract of [sessionInitRoute, ...routes.map(sealedContract)]) {
    api.openAPIRegistry.registerPath(contract);
  }
}

function sealedContract({ path, operationId, limit, summary, inner, codes }: SealedRoute) {
  return createRoute({
    ...publicContract(limit),
    method: 'post',
    path,
    operationId,
    tags,
    summary,
    description: `Both bodies are sealed as specified in \`src/protocol/SPEC.md\`. Seal the request as in §5 and §6. Open
the response, verify its signature and check it as in §7 and §8 before you act on it.

Inner request: \`nonce\`, \`timestamp\`, \`v\`, \`echoNonce?\`, \`echoRequest?\`, \`call?\`, ${inner}.

Inner codes, always with HTTP 200: VALIDATION_FAILED, ${codes.join(', ')}. The first that applies is the verdict (§10).
A plaintext error is unsigned: report it, but never treat it as a verdict (§11).`,
    request: { body: openJsonBody(sealedRequest) },
    responses: {
      200: jsonAnswer('The sealed and signed result', sealedAnswerSchema),
      ...failures(
        ...alwaysPossible,
        'CRYPTO_REQUIRED',
        'DECRYPT_FAIL',
        'CLOCK_SKEW',
        'REPLAY',
        'SESSION_EXPIRED',
      ),
    },
  });
}

/** HTTP status of a refusal in the plaintext test form; the same as the dashboard's for the same codes. */
function plainStatus(code: FailureVerdictCode): 400 | 401 | 403 | 404 | 409 {
  switch (code) {
    case 'VALIDATION_FAILED':
    case 'LICENSE_REQUIRED':
      return 400;
    case 'INVALID_CREDENTIALS':
      return 401;
    case 'LICENSE_NOT_FOUND':
    case 'USER_NOT_FOUND':
    case 'DEVICE_UNKNOWN':
      return 404;
    case 'USERNAME_TAKEN':
      return 409;
    default:
      return 403;
  }
}
