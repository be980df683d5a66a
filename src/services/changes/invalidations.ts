import { type Change, licenseCacheKey } from './change.ts';

/** Collects a transaction's changes to what is cached and to what open streams depend on. */
export interface Invalidations {
  application(id: string): void;
  /** Cookies or API keys of the developer have ended; streams that were opened with them are checked again. */
  credentials(developerId: string): void;
  license(keyHash: Uint8Array): void;
  /** Any of an application's licenses may have changed; none was added. */
  licensesOf(applicationId: string): void;
  /** A client may have asked for one of these keys before it was minted, and the refusal may be cached. */
  minted(applicationId: string, licenses: readonly { readonly keyHash: Uint8Array }[]): void;
  /** A ban of the application was added or removed. */
  bans(applicationId: string): void;
}

/** A mint of more keys names only its application. */
const maxMintedKeys = 1_000;

export function collectInvalidations(): {
  readonly invalidations: Invalidations;
  readonly changes: readonly Change[];
} {
  const changes: Change[] = [];
  const add = (cache: Change['cache'], ...keys: readonly string[]): void =>
    void changes.push({ cache, keys });
  return {
    changes,
    invalidations: {
      application: (id) => add('application', id),
      credentials: (developerId) => add('credentials', developerId),
      license: (keyHash) => add('license', licenseCacheKey(keyHash)),
      licensesOf: (applicationId) => add('license-of', applicationId),
      minted: (applicationId, licenses) => {
        if (licenses.length > maxMintedKeys) add('license-minted', applicationId);
        else add('license', ...licenses.map(({ keyHash }) => licenseCacheKey(keyHash)));
      },
      bans: (applicationId) => add('ban', applicationId),
    },
  };
}
