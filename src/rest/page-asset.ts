import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Handler } from 'hono';
import type { RestEnv } from './adapter.ts';

/** A page asks for a file with its version, so what it got may be kept for as long as a browser likes. */
const keptForAYear = 'public, max-age=31536000, immutable';

/**
 * Serves a file of a page. It is read and compressed once: the libraries are of megabytes, which nobody should have
 * compressed for him again and again.
 */
export function pageAsset(type: string, read: () => Promise<Uint8Array>): Handler<RestEnv> {
  let asset: Promise<Asset> | undefined;
  return async (c) => {
    asset ??= compress(read());
    const { plain, gzipped } = await asset;
    const headers = { 'Content-Type': type, 'Cache-Control': keptForAYear, Vary: 'Accept-Encoding' };
    return /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
      ? c.body(gzipped, 200, { ...headers, 'Content-Encoding': 'gzip' })
      : c.body(plain, 200, headers);
  };
}

/** A file as it is sent. */
interface Asset {
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
}

async function compress(read: Promise<Uint8Array>): Promise<Asset> {
  const plain = new Uint8Array(await read);
  return { plain, gzipped: new Uint8Array(await promisify(gzip)(plain)) };
}
