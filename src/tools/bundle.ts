import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { packageRoot } from '../lib/package-root.ts';

/*
 * Joins the service and its packages into a few files, because loading 1,400 modules one by one takes longer than running
 * them. `dist/main.js` replaces the compiler's output for `src/main.ts`; the files next to it in `dist/chunks` are all
 * that it loads, apart from the packages below and the threads of the embedded database.
 */

/**
 * Packages that stay in node_modules: they read files next to their own modules, have native code, or are large and loaded
 * on first use.
 */
const external = [
  '@electric-sql/*',
  '@graphql-yoga/render-graphiql',
  '@node-rs/argon2',
  '@prisma/client/runtime/query_compiler*',
  'pg-native',
  'pino-pretty',
  'swagger-ui-dist',
];

/** Bundled CommonJS packages load Node's own modules with `require`, which ES modules do not have. */
const banner = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);`;

const chunks = 'dist/chunks';
const { metafile } = await build({
  absWorkingDir: packageRoot,
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external,
  banner: { js: banner },
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  metafile: true,
});

// Their names have their hashes: those of this build are left in place, as a service may be running from them.
for (const name of await readdir(join(packageRoot, chunks))) {
  if (!(`${chunks}/${name}` in metafile.outputs)) await rm(join(packageRoot, chunks, name));
}
