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
import { createSlots, type Slots } from './slots.ts';
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
/** For how many webhooks one statement claims. Meanwhile, it holds places that it may not need. */
const claimedTogether = 50;

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

  /** @returns null if the service stops */
  async function attemptUnlessBrokenOff(delivery: ClaimedDelivery): Promise<WebhookAnswer | null> {
    try {
      return await attemptDelivery(delivery, { ...options, signal: breakOff.signal });
    } catch (error) {
      if (breakOff.signal.aborted) return null;
      throw error;
    }
  }

  /** Makes an attempt and stores its result. Never rejects. */
  async function attempt(delivery: ClaimedDelivery, release: () => void): Promise<void> {
    const { webhookId, developerId } = delivery.webhook;
    try {
      const answer = await attemptUnlessBrokenOff(delivery);
      if (answer === null) return await giveBack(pool, delivery);
      const { isSuccess, disable } = await recordResult(pool, delivery, answer, clock.now());
      environment().counts.webhookAttempts.add(isSuccess ? 'success' : 'failure');
      if (disable !== null) await disableWebhook(environment(), { webhookId, developerId, reason: disable });
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

  function begin(delivery: ClaimedDelivery, release: () => void): Promise<void> {
    const running = attempt(delivery, release);
    inProgress.add(running);
    void running.finally(() => inProgress.delete(running));
    return running;
  }

  async function claimAndBegin(work: readonly WebhookWork[]): Promise<void> {
    const places = reserve(slots, work);
    try {
      const wanted = [...places].map(([webhookId, own]) => ({ webhookId, places: own.length }));
      for (const delivery of await claimDue(pool, wanted, new Date(clock.now()))) {
        void begin(delivery, places.get(delivery.webhook.webhookId)?.pop() ?? (() => undefined));
      }
    } finally {
      for (const release of [...places.values()].flat()) release();
    }
  }

  /** @returns whether there may be more to do at once */
  async function look(developerIds: readonly string[] | 'all'): Promise<boolean> {
    const work = await findWork(pool, new Date(clock.now()), developerIds);
    const hasMoreEvents = await fanOutAll(pool, work, () => new Date(clock.now()));
    for (let start = 0; start < work.length; start += claimedTogether) {
      await claimAndBegin(work.slice(start, start + claimedTogether));
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

  const running = run();
  return {
    wake: wakes.wake,
    async attemptNow({ webhookId, developerId }, deliveryId) {
      const owner = { webhookId, developerId, isProven: true };
      if (slots.room(owner) === 0) throw tooManyDeliveries();
      const release = slots.take(owner);
      try {
        const delivery = await readClaimed(pool, await deliveryId());
        if (delivery !== null) await begin(delivery, release);
      } finally {
        release();
      }
    },
    get figures() {
      return figures;
    },
    stop: wakes.stop,
    async close(deadline) {
      wakes.stop();
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

/** Takes the places that due webhooks may have. */
function reserve(slots: Slots, work: readonly WebhookWork[]): Map<string, (() => void)[]> {
  const places = new Map<string, (() => void)[]>();
  for (const owner of work) {
    const own = Array.from({ length: slots.room(owner) }, () => slots.take(owner));
    if (own.length > 0) places.set(owner.webhookId, own);
  }
  return places;
}

const tooManyDeliveries = () =>
  new ServiceError(
    'TOO_MANY_DELIVERIES',
    'Too many attempts of this account are in progress. Try again when some have ended.',
  );
