import { type Sha256, sha256 } from '../../crypto/hash.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import { licenseCacheKey } from '../changes/change.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { applyFirstUse } from './apply-first-use.ts';
import { type ClientFacts, decide, type LicenseEffects, type RefusalCode } from './decide.ts';
import type { LicenseSnapshot } from './snapshot.ts';

/** What was asked: a key, presented to an application by a client (or, with null, by a developer). */
export interface LicenseQuestion {
  readonly application: ApplicationSnapshot;
  readonly client: ClientFacts | null;
  readonly licenseKey: string;
  readonly hwid: string | null;
}

export type LicenseJudgement =
  | { readonly code: RefusalCode; readonly license: LicenseSnapshot | null }
  | {
      readonly code: 'OK';
      readonly license: LicenseSnapshot;
      readonly expiresAt: Date | null;
      /** What this request did to the license. */
      readonly activated: boolean;
      readonly bound: boolean;
    };

/** Each round that fails means that another request won: it bound or activated this license. */
const rounds = 5;

/**
 * Judges a license and carries the verdict's effects out. When the license changes between the look and the write,
 * it looks again, so that the answer is always one that the database holds.
 * @throws {ServiceError} UNAVAILABLE when the license keeps changing
 */
export async function judgeLicense(
  ctx: ServiceContext,
  question: LicenseQuestion,
): Promise<LicenseJudgement> {
  const { clock } = ctx.env;
  const keyHash = sha256(question.licenseKey);
  for (let round = 0; round < rounds; round++) {
    const license = await findLicense(ctx, keyHash);
    const now = new Date(clock.now());
    const decision = decide({ ...question, license, now });
    if (decision.code !== 'OK') return { code: decision.code, license };
    if (license === null) throw new TypeError('The verdict accepted a license that is not there');
    const { activate, bindHwid } = decision.effects;
    const accepted = {
      code: 'OK',
      license,
      expiresAt: decision.expiresAt,
      activated: activate !== null,
      bound: bindHwid !== null,
    } as const;
    if (!accepted.activated && !accepted.bound) return accepted;
    if (await applyEffects(ctx, license, decision.effects, { keyHash, now })) return accepted;
  }
  throw new ServiceError('UNAVAILABLE', 'This license is being changed by many requests at once. Try again.');
}

/** Writes first use and binding. The cached copy goes however that ends: a write may be done and its answer lost. */
async function applyEffects(
  ctx: ServiceContext,
  license: LicenseSnapshot,
  effects: LicenseEffects,
  { keyHash, now }: { readonly keyHash: Sha256; readonly now: Date },
): Promise<boolean> {
  const { changes, database } = ctx.env;
  try {
    return await applyFirstUse(database.pool, license, effects, now);
  } finally {
    // Not recorded: an instance that has the license as it was would have to write too, and its condition would fail.
    await changes.tell([{ cache: 'license', keys: [licenseCacheKey(keyHash)] }]);
  }
}

/** A deleted application's licenses went with it in the database, and so do those that the cache still knows. */
export async function findLicense(ctx: ServiceContext, keyHash: Sha256): Promise<LicenseSnapshot | null> {
  const license = await ctx.env.caches.license(keyHash);
  if (license === null) return null;
  return (await ctx.env.caches.application(license.applicationId)) === null ? null : license;
}
