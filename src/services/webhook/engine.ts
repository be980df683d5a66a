import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { ServiceEnvironment } from '../context.ts';
import { ServiceError } from '../errors.ts';
import type { WebhookEngine } from '../webhook-engine.ts';
import { attemptDelivery } from './attempt.ts';
import { type ClaimedDelivery, claimDue, readClaimed } from './claim.ts';
import { disableWebhook } from './disable.ts';
import { fanOutAll } from './fan-out-all.ts';
import { noFigures, readFigures } from './figures.ts';
import { findWork, type WebhookWork, workAtOnce } from './find-work.ts';
import { giveBack, recordResult } from './record-result.ts';
import type { ResolveHost } from './resolve.ts';
import type { WebhookAnswer } from './send.ts';
import { createSlots, type Release } from './slots.ts';
import type { AllowedRanges } from './url.ts';
import { createWakes } from './wakes.ts';

export interface EngineOptions {
  readonly pool: Pool;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Logger;
  readonly allowed: AllowedRanges;
  readonly resolve?: ResolveHost | undefined;
  /** The environment that the engine is part of. Called when the service has started. */
  readonly environment: () => ServiceEnvironment;
}

/** How long attempts in progress may take at the end without a deadline, and how long before one they are broken off. */
const patience = { withoutDeadline: 2_000, beforeDeadline: 1_000 } as const;
const figuresEvery = 30_000;
/** For how many webhooks one statement claims. Meanwhile, it holds slots that it may not need. */
const claimedTogether = 50;
/** After so many attempts, or so long, a webhook gives its slot up to others that wait. */
const turn = { attempts: 50, milliseconds: 5_000 } as const;

/**
 * Sends events to webhooks. Several instances may do so on one database: they share the work by locks (fan-out.ts,
 * claim.ts). No connection is held while an attempt is in progress.
 */
export function startWebhookEngine(options: EngineOptions): WebhookEngine {
  const { pool, clock, log, environment } = options;
  const slots = createSlots();
  const breakOff = new AbortController();
  const inProgress = new Set<Promise<void>>();
  const wakes = createWakes();
  let figures = noFigures;
  let figuresAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  let isStopped = false;

  /** @returns null if the service stops */
  async function attemptUnlessBrokenOff(delivery: ClaimedDelivery): Promise<WebhookAnswer | null> {
    try {
      return await attemptDelivery(delivery, { ...options, signal: breakOff.signal });
    } catch (error) {
      if (breakOff.signal.aborted) return null;
      throw error;
    }
  }

  /**
   * Makes an attempt and stores its result.
   * @returns whether it succeeded
   */
  async function attempt(delivery: ClaimedDelivery): Promise<boolean> {
    const { webhookId, developerId } = delivery.webhook;
    const answer = await attemptUnlessBrokenOff(delivery);
    if (answer === null) {
      await giveBack(pool, delivery);
      return false;
    }
    const { isSuccess, disable } = await recordResult(pool, delivery, answer, clock.now());
    if (delivery.event !== null) environment().counts.webhookAttempts.add(isSuccess ? 'success' : 'failure');
    if (disable !== null) await disableWebhook(environment(), { webhookId, developerId, reason: disable });
    return isSuccess;
  }

  /** Makes an attempt and then, up to `most` in all, those that are due after it, while they succeed. Never rejects. */
  async function serve(first: ClaimedDelivery, release: Release, most: number): Promise<void> {
    const { webhookId, developerId } = first.webhook;
    const until = performance.now() + turn.milliseconds;
    try {
      let delivery: ClaimedDelivery | undefined = first;
      for (let made = 1; delivery !== undefined; made += 1) {
        // Nothing is sent of an event that is no longer kept, so this says nothing about the receiver.
        const mayGoOn: boolean = (await attempt(delivery)) || delivery.event === null;
        const goesOn: boolean = mayGoOn && made < most && performance.now() < until && !isStopped;
        delivery = goesOn ? (await claimDue(pool, [webhookId], new Date(clock.now())))[0] : undefined;
      }
    } catch (error) {
      log.warn(
        { err: error, webhookId },
        'The result of a webhook attempt could not be stored; it is made again',
      );
    } finally {
      release();
      wakes.wake(new Set([developerId]));
    }
  }

  function begin(delivery: ClaimedDelivery, release: Release, most: number): Promise<void> {
    const running = serve(delivery, release, most);
    inProgress.add(running);
    void running.finally(() => inProgress.delete(running));
    return running;
  }

  async function claimAndBegin(work: readonly WebhookWork[]): Promise<void> {
    const reserved = new Map<string, Release>();
    for (const owner of work) {
      const release = slots.serve(owner);
      if (release !== null) reserved.set(owner.webhookId, release);
    }
    try {
      for (const delivery of await claimDue(pool, [...reserved.keys()], new Date(clock.now()))) {
        const { webhookId } = delivery.webhook;
        void begin(delivery, reserved.get(webhookId) ?? (() => undefined), turn.attempts);
        reserved.delete(webhookId);
      }
    } finally {
      for (const release of reserved.values()) release();
    }
  }

  /** @returns whether there may be more to do at once */
  async function look(developerIds: readonly string[] | 'all'): Promise<boolean> {
    const work = await findWork(pool, new Date(clock.now()), developerIds);
    let hasMoreEvents = false;
    try {
      hasMoreEvents = await fanOutAll(pool, work, () => new Date(clock.now()));
    } finally {
      // What is due does not wait for what could not be created.
      for (let start = 0; start < work.length; start += claimedTogether) {
        await claimAndBegin(work.slice(start, start + claimedTogether));
      }
    }
    if (developerIds === 'all' && performance.now() - figuresAt > figuresEvery) {
      figuresAt = performance.now();
      figures = await readFigures(pool, new Date(clock.now()));
    }
    return hasMoreEvents || work.length === workAtOnce;
  }

  async function run(): Promise<void> {
    for (let scope = await wakes.next(); scope !== null; scope = await wakes.next()) {
      try {
        if (await look(scope)) wakes.wake(scope === 'all' ? 'all' : new Set(scope));
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, 'Webhooks are not served at the moment; will try again');
        isFailing = true;
      }
    }
  }

  function stop(): void {
    isStopped = true;
    wakes.stop();
  }

  const running = run();
  return {
    wake: wakes.wake,
    async attemptNow(developerId, deliveryId) {
      const release = slots.test(developerId);
      if (release === null) throw tooManyDeliveries();
      try {
        const delivery = await readClaimed(pool, await deliveryId());
        if (delivery !== null) await begin(delivery, release, 1);
      } finally {
        release();
      }
    },
    get figures() {
      return figures;
    },
    stop,
    async close(deadline) {
      stop();
      await running;
      const left =
        deadline === undefined
          ? patience.withoutDeadline
          : deadline - performance.now() - patience.beforeDeadline;
      const timer = setTimeout(() => breakOff.abort(), Math.max(0, left));
      await Promise.all(inProgress);
      clearTimeout(timer);
    },
  };
}

const tooManyDeliveries = () =>
  new ServiceError(
    'TOO_MANY_DELIVERIES',
    'Too many attempts of this account are in progress. Try again when some have ended.',
  );
