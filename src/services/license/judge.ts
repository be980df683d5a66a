import { type Sha256, sha256 } from '../../crypto/hash.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import { licenseCacheKey } from '../changes/change.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { applyFirstUse } from './apply-first-use.ts';
import { type ClientFacts, decide, type LicenseEffects, type RefusalCode } from './decide.ts';
import type { LicenseSnapshot } from './snapshot.ts';

/** A license key presented to an application by a client, or by a developer if `client` is null. */
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
      /** Whether this request activated the license, and whether it bound the device. */
      readonly activated: boolean;
      readonly bound: boolean;
    };

/** An attempt fails if another request binds or activates the license at the same time. */
const maxAttempts = 5;

/**
 * Checks a license and applies the verdict's effects. If the license changes between the check and the write, it is checked
 * again, so that the verdict always matches the database.
 * @throws {ServiceError} UNAVAILABLE if the license keeps changing
 */
export async function judgeLicense(
  ctx: ServiceContext,
  question: LicenseQuestion,
): Promise<LicenseJudgement> {
  const { clock } = ctx.env;
  const keyHash = sha256(question.licenseKey);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const license = await findLicense(ctx, keyHash);
    const now = new Date(clock.now());
    const decision = decide({ ...question, license, now });
    if (decision.code !== 'OK') return { code: decision.code, license };
    if (license === null) throw new TypeError('The verdict accepted a license that does not exist');
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

/** Writes activation and binding. The cached copy is always invalidated: a write may take effect although it fails. */
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

/**
 * Finds a license by its key's hash; null if it does not exist. A cached license of a deleted application does not count.
 */
export async function findLicense(ctx: ServiceContext, keyHash: Sha256): Promise<LicenseSnapshot | null> {
  const license = await ctx.env.caches.license(keyHash);
  if (license === null) return null;
  return (await ctx.env.caches.application(license.applicationId)) === null ? null : license;
}
