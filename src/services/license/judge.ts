import { type Sha256, sha256 } from '../../crypto/hash.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import { licenseCacheKey } from '../changes/change.ts';
import type { ServiceContext } from '../context.ts';
import { changeInTransaction, lockApplication } from '../transaction.ts';
import { applyFirstUse } from './apply-first-use.ts';
import { applyToLocked } from './apply-to-locked.ts';
import { type DeviceLabels, noLabels } from './client-facts.ts';
import { type ClientFacts, type Decision, decide, type RefusalCode } from './decide.ts';
import { lockLicense } from './lock.ts';
import { oneAtATime } from './one-at-a-time.ts';
import type { LicenseSnapshot } from './snapshot.ts';

/** A license key presented to an application by a client, or by a developer if `client` is null. */
export interface LicenseQuestion {
  readonly application: ApplicationSnapshot;
  readonly client: ClientFacts | null;
  readonly licenseKey: string;
  readonly hwid: string | null;
  readonly labels?: DeviceLabels;
}

type Accepted = Extract<Decision, { code: 'OK' }>;

export type LicenseJudgement =
  | { readonly code: RefusalCode; readonly license: LicenseSnapshot | null; readonly releasedAt?: Date }
  | {
      readonly code: 'OK';
      readonly license: LicenseSnapshot;
      readonly expiresAt: Date | null;
      readonly graceEndsAt: Date | null;
      /** Whether this request activated the license, and whether it bound the device. */
      readonly activated: boolean;
      readonly bound: boolean;
    };

/** An attempt fails if the license was changed since the verdict, by another request that binds or activates it, or by a release. */
const attempts = 3;

/**
 * Checks a license and applies the verdict's effects. If the license changes between the check and the write, it is checked
 * again, so that the verdict always matches the database; at last under a lock, so that there is a verdict however many
 * requests change it.
 */
export async function judgeLicense(
  ctx: ServiceContext,
  question: LicenseQuestion,
): Promise<LicenseJudgement> {
  const { clock } = ctx.env;
  const keyHash = sha256(question.licenseKey);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const license = await findLicense(ctx, keyHash);
    const now = new Date(clock.now());
    const decision = decide({ ...question, license, now });
    if (decision.code !== 'OK') return { ...decision, license };
    if (license === null) throw acceptedNothing();
    const accepted = acceptance(license, decision);
    if (!accepted.activated && decision.effects.device === null) return accepted;
    if (changesDevices(decision)) break;
    if (await applyEffects(ctx, question, license, decision, { keyHash, now })) return accepted;
  }
  return oneAtATime(ctx.env, licenseCacheKey(keyHash), () => judgeUnderLock(ctx, question, keyHash));
}

/** Whether an accepted request has effects on other devices than a new one. */
const changesDevices = ({ effects: { device } }: Accepted): boolean =>
  device?.kind === 'identified' || (device !== null && device.instead.length > 0);

const acceptedNothing = () => new TypeError('The verdict accepted a license that does not exist');

const acceptance = (license: LicenseSnapshot, { effects, expiresAt, graceEndsAt }: Accepted) =>
  ({
    code: 'OK',
    license,
    expiresAt,
    graceEndsAt,
    activated: effects.activate !== null,
    bound: effects.device?.kind === 'new',
  }) as const;

/** Writes activation and binding. The cached copy is always invalidated: a write may take effect although it fails. */
async function applyEffects(
  ctx: ServiceContext,
  { application: { developerId }, hwid, labels = noLabels }: LicenseQuestion,
  license: LicenseSnapshot,
  { effects: { activate, device } }: Accepted,
  { keyHash, now }: { readonly keyHash: Sha256; readonly now: Date },
): Promise<boolean> {
  const bound = device === null ? null : hwid;
  const use = { developerId, activate, hwid: bound, labels, origin: ctx.client, now };
  try {
    return await applyFirstUse(ctx.env.database.pool, license, use);
  } finally {
    await forget(ctx, keyHash);
  }
}

/** Checks a license and applies the verdict's effects in a transaction that has locked it. */
async function judgeUnderLock(
  ctx: ServiceContext,
  question: LicenseQuestion,
  keyHash: Sha256,
): Promise<LicenseJudgement> {
  const { licenseKey, hwid, labels = noLabels } = question;
  const cached = await findLicense(ctx, keyHash);
  // Uses are buffered: a device that has just been used is not idle.
  if (cached?.releaseIdleAfterSeconds != null) await ctx.env.securityLog.flush();
  try {
    return await changeInTransaction(ctx, async (transaction, invalidations) => {
      // The application first, like its deletion: releasing a device writes rows that refer to it.
      const exists = await lockApplication(transaction, question.application.id);
      const license = exists ? await lockLicense(transaction, { licenseKey }) : null;
      const now = new Date(ctx.env.clock.now());
      const decision = decide({ ...question, license, now });
      if (decision.code !== 'OK') return { ...decision, license };
      if (license === null) throw acceptedNothing();
      const device = hwid === null ? null : { hwid };
      const { developerId } = question.application;
      const use = { developerId, effects: decision.effects, device, labels, now };
      await applyToLocked(ctx, transaction, invalidations, license, use);
      return acceptance(license, decision);
    });
  } finally {
    // The verdict may differ from that on the cached copy.
    await forget(ctx, keyHash);
  }
}

/** Not recorded: an instance that has the license as it was would have to write too, and its condition would fail. */
async function forget(ctx: ServiceContext, keyHash: Sha256): Promise<void> {
  await ctx.env.changes.tell([{ cache: 'license', keys: [licenseCacheKey(keyHash)] }]);
}

/**
 * Finds a license by its key's hash; null if it does not exist. A cached license of a deleted application does not count.
 */
export async function findLicense(ctx: ServiceContext, keyHash: Sha256): Promise<LicenseSnapshot | null> {
  const license = await ctx.env.caches.license(keyHash);
  if (license === null) return null;
  return (await ctx.env.caches.application(license.applicationId)) === null ? null : license;
}
