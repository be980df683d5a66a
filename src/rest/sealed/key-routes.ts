import { Hono } from 'hono';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { canonicalUuid } from '../../protocol/messages.ts';
import {
  callPath,
  keyMediaType,
  keyPath,
  revocationsMediaType,
  revocationsPath,
} from '../../protocol/v2/constants.ts';
import { getKeyStatement } from '../../services/client-call/get-key-statement.ts';
import { getRevocations } from '../../services/client-call/get-revocations.ts';
import { applicationNotFound } from '../../services/errors.ts';
import { type RestContext, type RestEnv, serviceContext } from '../adapter.ts';
import { corsForAllOrigins, openToAllPages } from '../middleware/cors.ts';
import { rateLimit } from '../middleware/rate-limit.ts';

/** May be stored, and is asked for again each time: a client that was told KEY_UNKNOWN needs the current one. */
const revalidated = 'public, no-cache';
/** A browser checks the origin of a 304 too. */
const retainedHeaders = [...RETAINED_304_HEADERS, 'access-control-allow-origin'];

/** A signed document, as a service returns it. */
interface Document {
  readonly content: Uint8Array<ArrayBuffer> | string;
  readonly etag: string;
}

/** The requests of protocol version 2 that anyone may make without a key, on their whole paths. */
export function createKeyApp(): Hono<RestEnv> {
  const app = new Hono<RestEnv>();
  app.use(callPath, corsForAllOrigins('POST'));

  function serve(
    pathOf: (appId: string) => string,
    type: string,
    find: (c: RestContext) => Promise<Document>,
  ) {
    app.use(pathOf('*'), corsForAllOrigins('GET'), openToAllPages);
    app.get(pathOf(':appId'), rateLimit('session'), etag({ retainedHeaders }), async (c) => {
      const { content, etag } = await find(c);
      // The middleware would compute an ETag for every request.
      return c.body(content, 200, { 'Content-Type': type, 'Cache-Control': revalidated, ETag: etag });
    });
  }

  serve(keyPath, keyMediaType, async (c) => {
    const { bytes, etag } = await getKeyStatement({ ctx: serviceContext(c), input: appParam(c) });
    return { content: new Uint8Array(bytes), etag };
  });
  serve(revocationsPath, revocationsMediaType, async (c) => {
    const { text, etag } = await getRevocations({ ctx: serviceContext(c), input: appParam(c) });
    return { content: text, etag };
  });
  return app;
}

function appParam(c: RestContext): { readonly appId: string } {
  const appId = canonicalUuid.safeParse(c.req.param('appId'));
  if (!appId.success) throw applicationNotFound();
  return { appId: appId.data };
}
