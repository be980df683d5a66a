import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import type { RestEnv } from './adapter.ts';
import { examples } from './examples.ts';
import { sessionCookieName } from './middleware/session-cookie.ts';
import { limitExtension } from './route.ts';

/** What the OpenAPI document says beside its routes. */
const description = `Latchkey is a licensing service for software vendors. Developers manage applications and license
keys with a session cookie or an API key; client software proves a license over the sealed client protocol.

**Failures** are \`{ success: false, error, code }\`: \`error\` for a person, \`code\` for a program. VALIDATION_FAILED
names every fault in \`issues\`. A query parameter or a member of a body that a route does not know is one, save in the
client protocol, which ignores it. A body that is not JSON, or is not declared as such, is VALIDATION_FAILED on every
route. What belongs to another developer is answered as what does not exist.

**Bodies** of a developer hold at most 8 MiB, 100,000 values, and 100 KiB in one text; where nobody need log in, 100 KiB
in all, and in the client protocol 64 KiB. What is larger is PAYLOAD_TOO_LARGE.

**Pages** are newest first. Ask for the next one with the \`nextCursor\` of the one before; null is the end.

**Limits** are per client address and minute. A route with one has it in \`${limitExtension}\` (the operator may have set
another), and every answer of it carries \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`.

**Times** are ISO 8601 in UTC. Identifiers are UUIDs.`;

const tags = [
  { name: 'Developer account', description: 'Register, log in, log out. Login sets the session cookie.' },
  { name: 'Applications', description: 'What you sell: a name, a version, settings, and a signing key.' },
  { name: 'Licenses', description: 'Mint license keys, and change what became of them.' },
  { name: 'End users', description: 'The accounts of the people who use an application, and their data.' },
  { name: 'Bans', description: 'Devices and addresses that an application refuses.' },
  { name: 'Log and metrics', description: 'What happened, and how things stand.' },
  { name: 'Account', description: 'Your own settings, your data, and the end of both.' },
  { name: 'API keys', description: 'Keys for your own programs: each opens the whole account.' },
  {
    name: 'Client protocol',
    description:
      'What client software speaks: sealed with AES-256-GCM, signed with Ed25519. The specification is ' +
      '`src/protocol/SPEC.md`; `@latchkey/client` is an SDK that speaks it.',
  },
];

/** The document of every route of the API; its address is relative to the host where `publicUrl` is empty. */
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
 * Adds what no route says by itself: examples, and the header fields of limits. Failures with one code, which many
 * routes share, move into `failures` under its name; one with several codes stays with its operation, as no name would
 * say which.
 */
function complete(operation: Operation, failures: Record<string, Answer>): void {
  const example = examples[operation.operationId ?? ''];
  const body = operation.requestBody;
  if (body !== undefined && 'content' in body) setExample(body.content, example?.request);
  const responses = operation.responses ?? {};
  for (const [status, answer] of Object.entries(responses)) {
    const succeeds = status.startsWith('2');
    if (succeeds) setExample(answer.content, example?.answer);
    const names = headersOf(status, limitExtension in operation);
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

/** `VALIDATION_FAILED` as a generator names a type: `ValidationFailed`. */
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
  'RateLimit-Limit': 'Requests that the limit allows in a window of 60 seconds.',
  'RateLimit-Remaining': 'Requests that are left in this window.',
  'RateLimit-Reset': 'Seconds until the next window.',
} as const;
const retryAfter = 'Retry-After';

/** A 429 always has them: a route without a limit of its own draws on the one of failed bearer attempts. */
function headersOf(status: string, limited: boolean): string[] {
  if (status === '429') return [...Object.keys(limitHeaders), retryAfter];
  return limited && status.startsWith('2') ? Object.keys(limitHeaders) : [];
}

/** Answers the document. It is written once, when it is first asked for: by then every route is there. */
export function openApiHandler(api: OpenAPIHono<RestEnv>, publicUrl: string): Handler<RestEnv> {
  let text: string | undefined;
  return (c) => {
    text ??= JSON.stringify(openApiDocument(api, publicUrl));
    return c.body(text, 200, { 'Content-Type': 'application/json' });
  };
}

/** Registers both credentials and the header fields that routes refer to. */
export function registerComponents(api: OpenAPIHono<RestEnv>): void {
  const { openAPIRegistry } = api;
  openAPIRegistry.registerComponent('securitySchemes', 'sessionCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: sessionCookieName,
    description:
      'Set by register and login; valid for 7 days. Where a request carries both credentials, this one counts while it ' +
      'is valid. ' +
      'A change that a page asks for by it must come from this site or from an allowed origin.',
  });
  openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'service_live_…',
    description:
      'An API key: a full-account credential without scopes. Failed attempts are limited to 30 a minute and address.',
  });
  const fields = { ...limitHeaders, [retryAfter]: 'Seconds until a request is welcome again.' };
  for (const [name, text] of Object.entries(fields)) {
    openAPIRegistry.registerComponent('headers', name, {
      description: text,
      schema: { type: 'integer', minimum: 0 },
    });
  }
}
