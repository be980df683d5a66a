/** Sends events to webhooks, as verbs and changes see it. `webhook/engine.ts` creates it. */
export interface WebhookEngine {
  /** Looks soon at the webhooks of these developers; other ids are ignored. */
  wake(developerIds: ReadonlySet<string> | 'all'): void;
  /**
   * Makes the first attempt of a delivery that was created with a claim. Resolves when its result is stored.
   * @throws {ServiceError} TOO_MANY_DELIVERIES
   */
  attemptNow(developerId: string, deliveryId: () => Promise<string>): Promise<void>;
  /** Starts no more attempts. */
  stop(): void;
  /**
   * Waits for attempts in progress, and breaks them off when the time is over; they are then made again.
   * @param deadline in terms of `performance.now()`; soon by default
   */
  close(deadline?: number): Promise<void>;
  /** What the database had at a look within the last minute. */
  readonly figures: WebhookFigures;
}

/** Figures of all webhooks, for metrics. */
export interface WebhookFigures {
  /** Deliveries of enabled webhooks that wait for an attempt; counted up to 100,000. */
  readonly waiting: number;
  /**
   * For how long the earliest of them could have been attempted, in seconds; 0 if none could. Those of webhooks to which an
   * attempt is in progress wait for a receiver, not for the service, and are left out.
   */
  readonly oldestDueSeconds: number;
  /** Webhooks that the service has disabled. */
  readonly disabled: number;
}
