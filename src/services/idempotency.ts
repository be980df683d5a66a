import { hash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { Keyring } from '../crypto/keyring.ts';
import { type AnswerKeys, answerKeys, openAnswer, sealAnswer } from '../crypto/sealed-answer.ts';
import type { Prisma } from '../db/client.ts';
import type { RateLimitName } from '../ephemeral/rate-limits.ts';
import type { EphemeralStore } from '../ephemeral/store.ts';
import type { Clock } from '../lib/clock.ts';
import { canonicalJson } from '../protocol/canonical-json.ts';
import type { DeveloperActor } from './actor.ts';
import { RateLimitedError, ServiceError } from './errors.ts';
import type { ServiceCounts } from './service-counts.ts';

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  /** As the client sent it. */
  readonly key: string;
  /** The method and the path. */
  readonly route: string;
  /** What must be the same when the key is sent again: `contentHash` of the body. */
  readonly content: string;
  /** Which of the request's changes this is: the response name of a mutation; empty in REST. */
  readonly change: string;
  /** Called when the answer is a stored one. */
  readonly replayed: () => void;
}

/** What a body is compared by. @param body JSON in any spelling, or another text, which must be repeated exactly */
export function contentHash(body: string): string {
  return hash('sha256', canonicalText(body));
}

function canonicalText(body: string): string {
  try {
    return canonicalJson(JSON.parse(body));
  } catch {
    return body;
  }
}

export interface IdempotencyEnvironment {
  readonly database: { readonly prisma: Answers };
  readonly store: Pick<EphemeralStore, 'consume'>;
  readonly settings: { readonly rateLimits: Readonly<Record<RateLimitName, number>> };
  readonly counts: Pick<ServiceCounts, 'rateLimited'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

type Answers = Pick<Prisma.TransactionClient, 'idempotentAnswer'>;

const keyPattern = /^[\x20-\x7e]{16,255}$/;

/** The step that has the whole answer. A change in several transactions stores steps from 1. */
const wholeAnswer = 0;

/**
 * Carries a change out once, however often its request is sent with the same Idempotency-Key
 * (draft-ietf-httpapi-idempotency-key-header). The result of its transaction is stored in that transaction: both are
 * committed, or neither. What the caller is answered is derived from it alone. Errors roll their transaction back, so nothing
 * is stored of them.
 */
export class Idempotency {
  readonly #env: IdempotencyEnvironment;
  readonly #developerId: string;
  readonly #request: KeyedRequest;
  readonly #lock: Buffer;
  /** By the current master secret, then by previous ones. */
  readonly #keys: readonly [AnswerKeys, ...AnswerKeys[]];
  #isRunning = false;

  /** @throws {ServiceError} VALIDATION_FAILED if the key is not well formed */
  constructor(env: IdempotencyEnvironment, actor: DeveloperActor, request: KeyedRequest) {
    if (!keyPattern.test(request.key)) throw malformedKey();
    const { developerId } = actor;
    const name = canonicalJson([developerId, request.route, request.key]);
    // Another credential may have fewer rights, and must not read what this one was answered.
    const credential = actor.via === 'apiKey' ? actor.apiKeyId : 'session';
    const content = canonicalJson([credential, request.content]);
    const { answerSecret, previous } = env.keyring;
    this.#env = env;
    this.#developerId = developerId;
    this.#request = request;
    // Not of a secret: while it is being replaced, instances have different ones.
    this.#lock = hash('sha256', name, 'buffer');
    this.#keys = [
      answerKeys(answerSecret, name, content),
      ...previous.map((keys) => answerKeys(keys.answerSecret, name, content)),
    ];
  }

  /**
   * Carries out a change, or returns what its transaction returned before.
   * @throws {ServiceError} IDEMPOTENCY_MISMATCH if the key was sent with another request; IDEMPOTENCY_IN_PROGRESS;
   *   RATE_LIMITED if the account's answers are too large together
   */
  async once<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.#isRunning) return run();
    const stored = await this.#find(this.#env.database.prisma, wholeAnswer);
    if (stored !== null) return this.#replay(stored);
    this.#isRunning = true;
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof AnsweredMeanwhile)) throw error;
      const answer = await this.#find(this.#env.database.prisma, wholeAnswer);
      if (answer === null) throw inProgress();
      return this.#replay(answer);
    } finally {
      this.#isRunning = false;
    }
  }

  /**
   * The result of a step that an earlier request has committed; null if there is none.
   * @throws {ServiceError} IDEMPOTENCY_MISMATCH
   */
  async step<Result>(step: number): Promise<Result | null> {
    const stored = await this.#find(this.#env.database.prisma, step);
    return stored === null ? null : this.#open(stored, step);
  }

  /** Says that every step was a stored one. */
  noteReplay(): void {
    this.#request.replayed();
  }

  /**
   * Called when a transaction of the change begins. Of several requests with the same key, one gets on.
   * @throws {AnsweredMeanwhile} which `once` catches
   */
  async begin(
    transaction: Pick<Prisma.TransactionClient, '$queryRaw'> & Answers,
    step: number = wholeAnswer,
  ): Promise<void> {
    if (!this.#isRunning) return;
    const [lock] = await transaction.$queryRaw<{ isMine: boolean }[]>`
      SELECT pg_try_advisory_xact_lock(${this.#lock.readInt32BE(0)}::int, ${this.#lock.readInt32BE(4)}::int) AS "isMine"`;
    if (lock?.isMine !== true) throw inProgress();
    // In a second statement, which sees what was committed before the lock was taken.
    if ((await this.#find(transaction, step)) !== null) throw new AnsweredMeanwhile();
  }

  /** Stores an answer, in the transaction of the change. */
  async keep(transaction: Answers, answer: unknown, step: number = wholeAnswer): Promise<void> {
    if (!this.#isRunning) return;
    const [keys] = this.#keys;
    const answerEncrypted = sealAnswer(keys, this.#partOf(step), serialize(answer));
    await this.#takeKilobytes(Math.ceil(answerEncrypted.length / 1024));
    await transaction.idempotentAnswer.create({
      data: {
        developerId: this.#developerId,
        requestHash: keys.requestHash,
        change: this.#request.change,
        step,
        fingerprint: keys.fingerprint,
        answerEncrypted,
        createdAt: new Date(this.#env.clock.now()),
      },
      select: { step: true },
    });
  }

  /** Limits what an account can store: a small request may have a large answer, and there may be many mutations in one. */
  async #takeKilobytes(amount: number): Promise<void> {
    const { store, settings, counts } = this.#env;
    const limit = { name: 'answerKilobytes', points: settings.rateLimits.answerKilobytes } as const;
    const outcome = await store.consume(limit, this.#developerId, amount);
    if (outcome.allowed) return;
    counts.rateLimited.add('answerKilobytes');
    throw new RateLimitedError(
      outcome,
      `The answers to your account's changes with an Idempotency-Key are limited to ${limit.points} kB per minute. ` +
        `Nothing was changed. Try again in ${outcome.resetSeconds} s.`,
    );
  }

  async #find({ idempotentAnswer }: Answers, step: number): Promise<StoredAnswer | null> {
    const request = {
      developerId: this.#developerId,
      requestHash: { in: this.#keys.map(({ requestHash }) => requestHash) },
    };
    // All answers to one request have the same fingerprint.
    const any = await idempotentAnswer.findFirst({
      where: request,
      select: { requestHash: true, fingerprint: true },
    });
    if (any === null) return null;
    if (!isEqual(any.fingerprint, this.#keysOf(any).fingerprint)) throw mismatch();
    return idempotentAnswer.findFirst({
      where: { ...request, change: this.#request.change, step },
      select: { requestHash: true, answerEncrypted: true },
    });
  }

  #replay<Result>(stored: StoredAnswer): Result {
    this.#request.replayed();
    return this.#open(stored, wholeAnswer);
  }

  #open<Result>(stored: StoredAnswer, step: number): Result {
    const opened = openAnswer(this.#keysOf(stored), this.#partOf(step), stored.answerEncrypted);
    if (opened === null)
      throw new Error('A stored answer cannot be decrypted: the database was changed by hand');
    // The fingerprint says that it is the result of the same change.
    return deserialize(opened) as Result;
  }

  #keysOf({ requestHash }: Pick<StoredAnswer, 'requestHash'>): AnswerKeys {
    const [current] = this.#keys;
    return this.#keys.find((keys) => isEqual(keys.requestHash, requestHash)) ?? current;
  }

  #partOf = (step: number): string => `${this.#request.change}\0${step}`;
}

interface StoredAnswer {
  readonly requestHash: Uint8Array;
  readonly answerEncrypted: Uint8Array;
}

const isEqual = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/** Another request with the same key has made the change since this one began. */
export class AnsweredMeanwhile extends Error {}

function malformedKey(): ServiceError {
  const message = 'must be 16 to 255 printable ASCII characters';
  return new ServiceError('VALIDATION_FAILED', `The header field Idempotency-Key ${message}.`, {
    issues: [{ path: ['Idempotency-Key'], message }],
  });
}

const mismatch = () =>
  new ServiceError(
    'IDEMPOTENCY_MISMATCH',
    'This Idempotency-Key was sent before with another request, or with another credential. Send a new key with each new request.',
  );

const inProgress = () =>
  new ServiceError(
    'IDEMPOTENCY_IN_PROGRESS',
    'A request with this Idempotency-Key is still running. Send it again in a moment to get its answer.',
  );

/** The carrier of an Idempotency-Key; most requests have none. */
interface Once {
  readonly idempotency?: Idempotency;
}

/**
 * Carries out a change: at most once if the request has an Idempotency-Key. Every transaction of a change does so by itself
 * (services/transaction.ts). A verb calls this when it reads something before its transaction that may have changed since
 * the first request, such as a password.
 * @param run returns the result of its transaction, which is what is stored
 */
export const once = <Result>({ idempotency }: Once, run: () => Promise<Result>): Promise<Result> =>
  idempotency === undefined ? run() : idempotency.once(run);
