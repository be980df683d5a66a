import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const engine = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));

/**
 * The embedded PostgreSQL's machine code, kept for as long as this process lives. Each database has an engine in a
 * thread of its own, and V8 shares the code of equal WebAssembly modules between the threads of a process while one
 * of them is alive: without this one, each engine would be compiled anew, which takes longer than to start it. Only
 * code is shared: no memory, and so no data.
 */
export const engineCode = await WebAssembly.compile(await readFile(join(engine, 'pglite.wasm')));
