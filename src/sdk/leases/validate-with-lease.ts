import type { Answer, Call, CallName, CallResults } from '../call.ts';
import type { Failure } from '../failure.ts';
import { type ValidateOptions, type ValidateOutcome, validate } from '../validate.ts';
import { verdictOf } from '../verdict.ts';
import type { LeaseKeeper, LeaseQuestion, LeaseSubject } from './lease-keeper.ts';
import { leaseVerdict } from './lease-verdict.ts';

interface LeasedCall {
  readonly call: Call<CallName>;
  readonly keeper: LeaseKeeper;
}

/**
 * Validates a license key. Asks for a lease if the client has none, or after half of its term. A lease stands in for an
 * answer that cannot be had, never for a refusal.
 */
export async function validateWithLease(
  { call, keeper }: LeasedCall,
  licenseKey: string,
  options?: ValidateOptions | null,
): Promise<ValidateOutcome> {
  const { hwid, signal } = options ?? {};
  // A lease is for a device. JavaScript callers can pass anything.
  if (typeof licenseKey !== 'string' || typeof hwid !== 'string') return validate(call, licenseKey, options);
  const subject = keeper.subjectOf(licenseKey, hwid);
  const asked = { members: { licenseKey, hwid }, signal };
  let answer = await ask(call, asked, await keeper.question(subject));
  if (isWithoutLeases(answer)) {
    await keeper.keepUntilEnd(subject, answer.inner);
    answer = await ask(call, asked, 'none');
  }
  if (answer.kind === 'failure') return fallBack(keeper, subject, answer);
  const { inner } = answer;
  if (!inner.success) await keeper.remove(subject, inner);
  else if (inner.lease === undefined) await keeper.confirm(subject, inner);
  else await keeper.accept(subject, inner.lease, inner);
  return verdictOf(inner);
}

type LeaseAnswer = Answer<CallResults['validate' | 'lease']>;

/** Whether the application no longer issues leases. This says nothing about the license. */
function isWithoutLeases(answer: LeaseAnswer | Failure): answer is LeaseAnswer {
  return answer.kind === 'answer' && !answer.inner.success && answer.inner.code === 'LEASES_DISABLED';
}

interface Asked {
  readonly members: { readonly licenseKey: string; readonly hwid: string };
  readonly signal: AbortSignal | undefined;
}

function ask(
  call: Call<CallName>,
  { members, signal }: Asked,
  question: LeaseQuestion,
): Promise<LeaseAnswer | Failure> {
  if (question === 'none') return call({ call: 'validate', members, signal });
  if (question === 'first') return call({ call: 'validate', members: { ...members, lease: true }, signal });
  // With the number of the lease that is held, the service notices that an earlier state of the disk was restored.
  return call({ call: 'lease', members: { ...members, seq: question.held }, signal });
}

async function fallBack(
  keeper: LeaseKeeper,
  subject: LeaseSubject,
  answer: Failure,
): Promise<ValidateOutcome> {
  if (!isNoAnswer(answer)) return answer;
  const judged = await keeper.judge(subject);
  return typeof judged === 'string' ? { ...answer, lease: judged } : leaseVerdict(judged);
}

/** Whether no answer could be had. Not if the program gave up, or if the service has answered that it refuses the request. */
function isNoAnswer({ reason, signed, code }: Failure): boolean {
  if (reason === 'aborted') return false;
  return signed !== true || code === 'UNAVAILABLE' || code === 'RATE_LIMITED';
}
