import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Handler } from 'hono';
import type { RestEnv } from './adapter.ts';

/** Asset URLs contain a version, so browsers may cache them indefinitely. */
const cacheForAYear = 'public, max-age=31536000, immutable';

/**
 * Serves one page asset. It is read and compressed once, on first use, because the libraries are several megabytes.
 */
export function pageAsset(type: string, read: () => Promise<Uint8Array>): Handler<RestEnv> {
  let asset: Promise<Asset> | undefined;
  return async (c) => {
    asset ??= compress(read());
    const { plain, gzipped } = await asset;
    const headers = { 'Content-Type': type, 'Cache-Control': cacheForAYear, Vary: 'Accept-Encoding' };
    return /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
      ? c.body(gzipped, 200, { ...headers, 'Content-Encoding': 'gzip' })
      : c.body(plain, 200, headers);
  };
}

interface Asset {
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
}

async function compress(read: Promise<Uint8Array>): Promise<Asset> {
  const plain = new Uint8Array(await read);
  return { plain, gzipped: new Uint8Array(await promisify(gzip)(plain)) };
}
