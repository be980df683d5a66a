import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const engine = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));

/**
 * Keeps the machine code of the embedded PostgreSQL for the life of this process. Each database has an engine in its own
 * thread, and V8 shares the code of equal WebAssembly modules between threads while one of them is alive. Without this,
 * each engine would be compiled again, which takes longer than starting it. Only code is shared, not memory or data.
 */
export const engineCode = await WebAssembly.compile(await readFile(join(engine, 'pglite.wasm')));
