import { ApiError } from './api-error.ts';

/** Null if what was to be read does not exist, for example because it has been deleted while it was shown. */
export async function unlessMissing<Result>(reading: Promise<Result>): Promise<Result | null> {
  try {
    return await reading;
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code.endsWith('_NOT_FOUND')) return null;
    throw thrown;
  }
}
