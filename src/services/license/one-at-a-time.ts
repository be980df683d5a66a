import type { ServiceEnvironment } from '../context.ts';

/** The last work on each license, by the key under which it is cached. */
const lastOf = new WeakMap<ServiceEnvironment, Map<string, Promise<unknown>>>();

/**
 * Runs this process's work on a license that locks it, one after another: while requests wait for the same row, they hold
 * no connection of the pool.
 */
export async function oneAtATime<Result>(
  env: ServiceEnvironment,
  license: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const last = lastOf.get(env) ?? new Map<string, Promise<unknown>>();
  lastOf.set(env, last);
  const before = last.get(license) ?? Promise.resolve();
  const own = before.then(work, work);
  last.set(license, own);
  try {
    return await own;
  } finally {
    if (last.get(license) === own) last.delete(license);
  }
}
