import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { inlineDocuments } from './inline-documents.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const service = 'http://127.0.0.1:4000';

/**
 * Which modules become one file, with all that they import and no file above has: what every page loads, what the first
 * screen adds, then what other screens share, then a file for each screen. What none names has a file of its own if it is
 * loaded by `import()`, such as the charts.
 */
const groups = [
  { name: 'main', tags: ['$initial' as const] },
  { name: 'shell', test: /dashboard\/(shell\/shell|screens\/overview\/overview)\.tsx$/ },
  { name: 'ui', test: /dashboard\/(ui|api)\// },
  { name: 'fields', test: /dashboard\/(terms\/|vault\/|shell\/(password-field|code-input)\.)/ },
  { name: 'lists', test: /dashboard\/(list|log-entries)\// },
  {
    debugName: 'screens',
    name: (id: string): string | null => /screens\/([a-z-]+)\//.exec(id)?.[1] ?? null,
    test: /screens\/(?!overview)/,
  },
];

/** Builds the dashboard into `dist/dashboard`, from where the service serves it at `/app`. */
export default defineConfig({
  root: path('.'),
  // Relative, so that the page works under any path of a reverse proxy.
  base: './',
  publicDir: false,
  plugins: [inlineDocuments(), react()],
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
    // One stylesheet, and few scripts: what is compressed together takes a fifth less than 150 small files.
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
});
