import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const service = 'http://127.0.0.1:4000';

/** Builds the dashboard into `dist/dashboard`, from where the service serves it at `/app`. */
export default defineConfig({
  root: path('.'),
  // Relative, so that the page works under any path of a reverse proxy.
  base: './',
  publicDir: false,
  plugins: [react()],
  // `npm run dev:dashboard`, beside `npm run dev`: the service accepts changes from its own origin only.
  server: { proxy: { '/graphql': { target: service, headers: { origin: service } } } },
  build: {
    outDir: path('../../dist/dashboard'),
    emptyOutDir: true,
    // The page's policy allows no inline script and no data: URL.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Lists the chunks of each route; test/dashboard/bundle.test.ts measures them.
    manifest: 'manifest.json',
    target: 'es2022',
    reportCompressedSize: false,
  },
});
