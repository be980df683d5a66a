import type { z } from 'zod';
import { sha256 } from '../../crypto/hash.ts';
import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import { messageFor } from '../application/message-for.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { Call, ServiceContext } from '../context.ts';
import { inReadTurn } from '../developer-turns.ts';
import { applicationNotFound, licenseNotFound } from '../errors.ts';
import { decide, type Facts, type RefusalCode, type RuleName, rules } from '../license/decide.ts';
import { findLicenseById, findLicenseByKey, type LicenseSnapshot } from '../license/snapshot.ts';
import { ownApplications, requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { because } from './because.ts';
import { completeQuestion, explainLicenseInput, type Question } from './question.ts';

export { explainLicenseInput };

export interface ExplainedRule {
  readonly rule: RuleName;
  /** `not_asked`: the question does not say what the rule is about. `not_reached`: an earlier rule refuses. */
  readonly outcome: 'pass' | 'fail' | 'not_asked' | 'not_reached';
  /** A sentence; empty if the rule is not reached. */
  readonly because: string;
}

export interface Explanation {
  /** The verdict. */
  readonly success: boolean;
  readonly code: RefusalCode | 'OK';
  /** The message that the client would get. */
  readonly message: string;
  readonly rules: readonly ExplainedRule[];
  /** Whether the request would activate the license, and bind the device. */
  readonly wouldActivate: boolean;
  readonly wouldBind: boolean;
  readonly expiresAt: Date | null;
  readonly graceEndsAt: Date | null;
  /** What the facts are, if a log entry filled in some; otherwise null. */
  readonly note: string | null;
}

/**
 * Explains the verdict that a client would get. It asks the rules that judge clients, and changes, counts and logs nothing.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, LICENSE_NOT_FOUND if `licenseId` is none
 *   of the developer's, LOG_ENTRY_NOT_FOUND, VALIDATION_FAILED
 */
export async function explainLicense({
  ctx,
  input,
}: Call<z.input<typeof explainLicenseInput>>): Promise<Explanation> {
  requireDeveloper(ctx.actor, 'licenses:read');
  const question = await completeQuestion(ctx, parseInput(explainLicenseInput, input));
  const applicationId = await requireOwnApplication(ctx, question.applicationId, 'licenses:read');
  const application = await ctx.env.caches.application(applicationId);
  if (application === null) throw applicationNotFound();
  return explain(application, question, await factsOf(ctx, application, question));
}

async function factsOf(
  ctx: ServiceContext,
  application: ApplicationSnapshot,
  question: Question,
): Promise<Facts> {
  const { caches } = ctx.env;
  const { hwid, ip, version, protocol, at: now } = question;
  const client = {
    version,
    protocol,
    ipBanned: ip === null ? null : await caches.isBanned(application.id, 'ip', ip),
    hwidBanned: hwid === null ? null : await caches.isBanned(application.id, 'hwid', hwid),
  };
  return { application, client, license: await findLicense(ctx, question), hwid, now };
}

async function findLicense(ctx: ServiceContext, { license }: Question): Promise<LicenseSnapshot | null> {
  const { caches, database } = ctx.env;
  if ('licenseKey' in license) {
    const found = await inReadTurn(ctx, () => findLicenseByKey(database.pool, sha256(license.licenseKey)));
    const application = found === null ? null : await caches.application(found.applicationId);
    return application === null ? null : found;
  }
  const { licenseId } = license;
  const found = isId(licenseId)
    ? await inReadTurn(ctx, () => findLicenseById(database.pool, licenseId))
    : null;
  if (found === null || !(await isOwn(ctx, found.applicationId))) throw licenseNotFound();
  return found;
}

/** Whether the caller may see this application. */
async function isOwn({ actor, env }: ServiceContext, applicationId: string): Promise<boolean> {
  const { developerId, id = applicationId } = ownApplications(actor);
  const application = await env.caches.application(applicationId);
  return application?.developerId === developerId && id === applicationId;
}

function explain(application: ApplicationSnapshot, { ip, isFromLog }: Question, facts: Facts): Explanation {
  const decision = decide(facts);
  const isOk = decision.code === 'OK';
  return {
    success: isOk,
    code: decision.code,
    message: messageFor(application, decision.code),
    rules: explainRules(facts, ip),
    wouldActivate: isOk && decision.effects.activate !== null,
    wouldBind: isOk && decision.effects.device?.kind === 'new',
    expiresAt: isOk ? decision.expiresAt : null,
    graceEndsAt: isOk ? decision.graceEndsAt : null,
    note: isFromLog
      ? 'Device, address and version are those of the log entry, where it has them. All other facts are of now.'
      : null,
  };
}

function explainRules(facts: Facts, ip: string | null): ExplainedRule[] {
  let isDecided = false;
  return rules.map(({ name, judge }): ExplainedRule => {
    if (isDecided) return { rule: name, outcome: 'not_reached', because: '' };
    const outcome = judge(facts);
    const text = because(name, outcome, { facts, ip });
    if (outcome === 'pass' || outcome === 'not_asked') return { rule: name, outcome, because: text };
    isDecided = true;
    return { rule: name, outcome: 'fail', because: text };
  });
}
