import type { OpenAPIHono } from '@hono/zod-openapi';
import type { RestEnv } from './adapter.ts';
import { sessionCookieName } from './middleware/session-cookie.ts';

/** What the OpenAPI document says beside its routes. */
const description = `Latchkey is a licensing service for software vendors. Developers manage applications and license
keys with a session cookie or an API key; client software proves a license over the sealed client protocol.
A failure is \`{ success: false, error, code }\`, with \`issues\` for VALIDATION_FAILED.`;

/** Registers both credentials, and answers the document of every route of the API. */
export function openApiDocument(api: OpenAPIHono<RestEnv>, publicUrl: string) {
  return api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Latchkey', version: '1.0.0', description },
    servers: [{ url: `${publicUrl}/api/v1` }],
  });
}

export function registerSecuritySchemes(api: OpenAPIHono<RestEnv>): void {
  api.openAPIRegistry.registerComponent('securitySchemes', 'sessionCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: sessionCookieName,
    description: 'Set by login; valid for 7 days.',
  });
  api.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'service_live_…',
    description: 'An API key: a full-account credential.',
  });
}
