import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import type { RestEnv } from './adapter.ts';
import { examples } from './examples.ts';
import { idempotencyHeader, replayedHeader } from './middleware/idempotency-key.ts';
import { sessionCookieName } from './middleware/session-cookie.ts';
import { limitExtension, scopeExtension } from './route.ts';

/** Introduction of the OpenAPI document. */
const description = `Latchkey is a licensing service for software vendors. Developers manage applications and license
keys with a session cookie or an API key; client software proves a license over the sealed client protocol.

**Errors** are \`{ success: false, error, code }\`: \`error\` is for people, \`code\` for programs. VALIDATION_FAILED lists
every problem in \`issues\`. Unknown query parameters and body members are errors, except in the client protocol, which
ignores them. A body that is not JSON, or not declared as JSON, returns VALIDATION_FAILED. Other developers' resources
return 404.

**Body limits:** authenticated requests: 8 MiB, 100,000 JSON values, and 100 KiB per string. Public routes: 100 KiB.
Client protocol: 64 KiB. Larger bodies return PAYLOAD_TOO_LARGE.

**Lists** are newest first. To get the next page, pass \`nextCursor\` as \`cursor\`; on the last page it is null.

**Rate limits** apply per client address and minute. \`${limitExtension}\` shows a route's default limit, which the operator
can change. Its responses carry \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`.

**Changes that are sent again:** send a change with an \`${idempotencyHeader}\`, and repeat it with the same one when its
response is lost. It is made once. For 24 hours, the same request of the same credential gets the same status and body, with
\`${replayedHeader}: true\`; another request with this key gets 422 IDEMPOTENCY_MISMATCH, and one that arrives while the first is
running gets 409 IDEMPOTENCY_IN_PROGRESS. Errors are not stored. Stored answers are encrypted with a key that is derived from
yours. In GraphQL, the header field applies to each mutation of the document.

**Times** are ISO 8601 in UTC. Identifiers are UUIDs.`;

const tags = [
  { name: 'Developer account', description: 'Register, log in, log out. Login sets the session cookie.' },
  { name: 'Applications', description: 'What you sell: a name, a version, settings, and a signing key.' },
  { name: 'Licenses', description: 'Create license keys and manage licenses.' },
  { name: 'Policies', description: 'Values for new licenses, which are copied when licenses are created.' },
  { name: 'End users', description: 'Accounts of the people who use an application, and their data.' },
  { name: 'Bans', description: 'Devices and IP addresses that an application refuses.' },
  { name: 'Events', description: 'What happened in the account, for other systems.' },
  { name: 'Log and metrics', description: 'The security log and current figures.' },
  { name: 'Account', description: 'Settings, export and deletion of your account.' },
  {
    name: 'API keys',
    description: 'Keys for your own programs, for the whole account or a part of it.',
  },
  {
    name: 'Webhooks',
    description: 'URLs of yours to which events are sent, signed after the Standard Webhooks specification.',
  },
  {
    name: 'Client protocol',
    description:
      'Version 1 of the protocol for client software: sealed with AES-256-GCM, signed with Ed25519. It is specified in ' +
      '`src/protocol/SPEC.md`. Version 2 is under `/api/v2` (`POST /call`, `GET /keys/{appId}`, ' +
      '`GET /revocations/{appId}`); its bodies are bytes, and `src/protocol/v2/SPEC.md` specifies them. The SDK ' +
      '`@latchkey/client` implements both.',
  },
];

/** Builds the OpenAPI document of all routes. With an empty `publicUrl`, its server URL is relative to the host. */
function openApiDocument(api: OpenAPIHono<RestEnv>, publicUrl: string) {
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Latchkey', version: '1.0.0', description },
    servers: [{ url: `${publicUrl}/api/v1`, description: 'This service' }],
    tags,
  });
  const failures: Record<string, Answer> = {};
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of [path.get, path.post, path.patch, path.delete]) {
      if (operation !== undefined) complete(operation, failures);
    }
  }
  document.components = { ...document.components, responses: failures };
  return document;
}

type Document = ReturnType<OpenAPIHono<RestEnv>['getOpenAPI31Document']>;
type Operation = NonNullable<NonNullable<Document['paths']>[string]['get']>;
type Answer = NonNullable<NonNullable<Document['components']>['responses']>[string];

/**
 * Adds examples, rate-limit header fields and the needed scopes to an operation. An error response with a single code
 * moves to the shared `failures`, named after the code. One with several codes stays inline, because no name would
 * describe it.
 */
function complete(operation: Operation, failures: Record<string, Answer>): void {
  const scopes: unknown = Reflect.get(operation, scopeExtension);
  if (Array.isArray(scopes)) {
    const names = scopes.map((scope) => `\`${scope}\``).join(', ');
    operation.description = [operation.description, `An API key needs the scope ${names}.`].join(' ');
  }
  const example = examples[operation.operationId ?? ''];
  const body = operation.requestBody;
  if (body !== undefined && 'content' in body) setExample(body.content, example?.request);
  const responses = operation.responses ?? {};
  const takesKey = '422' in responses;
  if (takesKey) {
    operation.parameters = [
      ...(operation.parameters ?? []),
      { $ref: `#/components/parameters/${idempotencyHeader}` },
    ];
  }
  for (const [status, answer] of Object.entries(responses)) {
    const succeeds = status.startsWith('2');
    if (succeeds) setExample(answer.content, example?.answer);
    const names = headersOf(status, { isLimited: limitExtension in operation, takesKey });
    if (names.length > 0) {
      const refer = (name: string) => [name, { $ref: `#/components/headers/${name}` }];
      answer.headers = Object.fromEntries(names.map(refer));
    }
    if (succeeds) continue;
    const [code, ...more] = Object.keys(answer.content?.['application/json']?.examples ?? {});
    if (code === undefined || more.length > 0) continue;
    failures[nameOf(code)] = answer;
    responses[status] = { $ref: `#/components/responses/${nameOf(code)}` };
  }
}

/** `VALIDATION_FAILED` as a type name for code generators: `ValidationFailed`. */
const nameOf = (code: string): string =>
  code
    .split('_')
    .map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`)
    .join('');

function setExample(content: Record<string, object> | undefined, example: object | undefined): void {
  const json = content?.['application/json'];
  if (json !== undefined && example !== undefined) Object.assign(json, { example });
}

const limitHeaders = {
  'RateLimit-Limit': 'Requests allowed in a 60-second window.',
  'RateLimit-Remaining': 'Requests left in this window.',
  'RateLimit-Reset': 'Seconds until the next window.',
} as const;
const retryAfter = 'Retry-After';

/** Every 429 has rate-limit fields: routes without their own limit are still subject to the one for failed bearer attempts. */
function headersOf(
  status: string,
  { isLimited, takesKey }: { readonly isLimited: boolean; readonly takesKey: boolean },
): string[] {
  if (status === '429') return [...Object.keys(limitHeaders), retryAfter];
  if (status === '409' && takesKey) return [retryAfter];
  if (!status.startsWith('2')) return [];
  return [...(isLimited ? Object.keys(limitHeaders) : []), ...(takesKey ? [replayedHeader] : [])];
}

/** Serves the document. It is built on the first request, when all routes are registered, and then reused. */
export function openApiHandler(api: OpenAPIHono<RestEnv>, publicUrl: string): Handler<RestEnv> {
  let text: string | undefined;
  return (c) => {
    text ??= JSON.stringify(openApiDocument(api, publicUrl));
    return c.body(text, 200, { 'Content-Type': 'application/json' });
  };
}

/** Registers the security schemes and the header fields that operations reference. */
export function registerComponents(api: OpenAPIHono<RestEnv>): void {
  const { openAPIRegistry } = api;
  openAPIRegistry.registerComponent('securitySchemes', 'sessionCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: sessionCookieName,
    description:
      'Set by register and login; valid for 7 days. If a request carries both credentials, a valid cookie takes ' +
      'precedence. Requests that use it from a browser and may change something must come from this site or from an ' +
      'allowed origin.',
  });
  openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'service_live_…',
    description:
      'An API key. Its scopes say what it may do; `x-required-scope` lists those that an operation needs, and others ' +
      'get INSUFFICIENT_SCOPE. Failed attempts are limited to 30 per minute and address.',
  });
  openAPIRegistry.registerComponent('parameters', idempotencyHeader, {
    name: idempotencyHeader,
    in: 'header',
    required: false,
    description:
      'Names this change, so that it is made once however often it is sent: 16 to 255 printable ASCII characters, such as a ' +
      'UUID. See the introduction.',
    schema: { type: 'string', minLength: 16, maxLength: 255 },
  });
  openAPIRegistry.registerComponent('headers', replayedHeader, {
    description:
      '`true` if this is the answer to an earlier request with the same Idempotency-Key; otherwise absent.',
    schema: { type: 'string', enum: ['true'] },
  });
  const fields = { ...limitHeaders, [retryAfter]: 'Seconds to wait before the next request.' };
  for (const [name, text] of Object.entries(fields)) {
    openAPIRegistry.registerComponent('headers', name, {
      description: text,
      schema: { type: 'integer', minimum: 0 },
    });
  }
}
