import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';

/** Bundles the SDK as a web page does. */
export async function bundleForBrowsers() {
  const { outputFiles, metafile } = await build({
    entryPoints: [new URL('../../src/sdk/index.ts', import.meta.url).pathname],
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'latchkey',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error('esbuild wrote nothing');
  return { code: output.text, metafile };
}

/**
 * Runs scripts in a context with the bundle and only what browsers have.
 * @param globals more globals of the page, or others
 */
export async function openPage(globals: object): Promise<(script: string) => unknown> {
  const { code } = await bundleForBrowsers();
  const context = createContext({
    fetch,
    crypto,
    URL,
    TextEncoder,
    TextDecoder,
    AbortController,
    setTimeout,
    clearTimeout,
    setInterval,
    performance,
    ...globals,
  });
  runInContext(`${code};globalThis.latchkey = latchkey;`, context);
  return (script) => runInContext(script, context);
}
