import type { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';
import { policyNotFound, ServiceError } from '../errors.ts';
import { id } from '../fields.ts';
import { requireOwnApplication } from '../own-application.ts';
import { tags } from './entitlements.ts';
import { type PolicyTerms, policyTerms, policyTermsSelect } from './policy-terms.ts';
import { licenseTerms, startsAt } from './terms.ts';

/** Parsers of what a mint can say about its licenses besides their duration. What is left out is the policy's. */
export const mintTermsInput = {
  policyId: id.optional(),
  startsAt: startsAt.optional(),
  subscriptionTier: licenseTerms.subscriptionTier.optional(),
  deviceLimit: licenseTerms.deviceLimit.optional(),
  selfService: licenseTerms.selfService.optional(),
  moves: licenseTerms.moves.optional(),
  cooldownSeconds: licenseTerms.cooldownSeconds.optional(),
  releaseIdleAfterSeconds: licenseTerms.releaseIdleAfterSeconds.optional(),
  graceSeconds: licenseTerms.graceSeconds.optional(),
  leaseSeconds: licenseTerms.leaseSeconds.optional(),
  entitlements: licenseTerms.entitlements.optional(),
  metadata: licenseTerms.metadata.optional(),
  tags: tags.optional(),
} as const;

/** The issue about a license without a duration, for `refine`. It is reported together with all others. */
export const withoutDuration = {
  path: ['durationSeconds'],
  message: 'is required without policyId',
  when: ({ value }: { readonly value: unknown }) => isObject(value),
};

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a mint, or each of its keys, says how long its licenses are valid. Members may be of any type. */
export function saysDuration(given: {
  readonly policyId?: unknown;
  readonly durationSeconds?: unknown;
}): boolean {
  return given.policyId !== undefined || given.durationSeconds !== undefined;
}

/** What a mint says, parsed. */
export interface GivenTerms extends Partial<PolicyTerms> {
  readonly policyId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** What all licenses of a mint get. */
export interface MintTerms extends Omit<PolicyTerms, 'durationSeconds'> {
  readonly policyId: string | null;
  readonly tags: readonly string[];
  /** Undefined if neither the mint nor a policy says it: each license then has its own. */
  readonly durationSeconds: number | undefined;
}

/** The defaults of the columns. */
const withoutPolicy = {
  startsAt: 'first_use',
  subscriptionTier: 0,
  deviceLimit: 1,
  selfService: 'off',
  moves: null,
  cooldownSeconds: 0,
  releaseIdleAfterSeconds: null,
  graceSeconds: 0,
  leaseSeconds: null,
  entitlements: {},
  metadata: { client: {}, private: {} },
  keyMask: null,
  durationSeconds: undefined,
} as const satisfies Partial<MintTerms>;

/**
 * Reads what the licenses of a mint get: the values of the policy, in one statement, so that they are all of the same time,
 * and instead of these what the mint says.
 * @throws {ServiceError} POLICY_NOT_FOUND if the application has no such policy
 */
export async function readMintTerms(
  prisma: Pick<Prisma.TransactionClient, 'policy'>,
  applicationId: string,
  given: GivenTerms,
): Promise<MintTerms> {
  const { policyId } = given;
  if (policyId === undefined) return { ...withoutPolicy, policyId: null, tags: [], ...given };
  const row = isId(applicationId)
    ? await prisma.policy.findUnique({ where: { id: policyId, applicationId }, select: policyTermsSelect })
    : null;
  if (row === null) throw policyNotFound();
  return { ...policyTerms(row), policyId, tags: [], ...given };
}

/** The duration of a license. @param own the license's own, if it has one */
export function durationOf({ durationSeconds }: MintTerms, own?: number): number {
  const duration = own ?? durationSeconds;
  if (duration === undefined) throw new TypeError('A mint without a duration was not refused.');
  return duration;
}

type StoredText = Pick<MintTerms, 'entitlements' | 'metadata' | 'tags'>;

/** The characters of each license's entitlements, metadata and tags. */
export function charactersOf({ entitlements, metadata, tags }: StoredText): number {
  const members = [entitlements, metadata.client, metadata.private].flatMap((each) => Object.entries(each));
  return [...members.flat(), ...tags].reduce<number>((sum, part) => sum + String(part).length, 0);
}

/** The same before the mint, for its turn; another transaction may change the policy until it begins. */
export async function expectedCharacters(
  ctx: ServiceContext,
  applicationId: string,
  given: GivenTerms,
): Promise<number> {
  if (given.policyId !== undefined) await requireOwnApplication(ctx, applicationId, 'licenses:mint');
  return charactersOf(await readMintTerms(ctx.env.database.prisma, applicationId, given));
}

/** As many as the notes of a mint can have: they are stored with each license. */
const maxCharacters = 10_000_000;

/** @throws {ServiceError} VALIDATION_FAILED if the licenses have too much text together */
export function requireStorable(terms: StoredText, amount: number, member: 'amount' | 'keys' | 'ids'): void {
  const characters = charactersOf(terms);
  if (characters * amount <= maxCharacters) return;
  const most = Math.floor(maxCharacters / characters).toLocaleString('en-US');
  const message = `is too large: at most ${most} licenses with ${characters.toLocaleString('en-US')} characters of entitlements, metadata and tags can be written at once`;
  throw ServiceError.invalidMember(member, message);
}
