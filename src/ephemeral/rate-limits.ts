/**
 * The named limits: requests per client address and 60-second window. Two are of one developer instead, over all requests
 * and addresses: `licenseRows` is the number of licenses that they may create, or change in bulk, in a window, and
 * `answerKilobytes` what may be stored of their changes with an Idempotency-Key.
 */
export const rateLimitDefaults = {
  auth: 20,
  session: 60,
  validate: 120,
  clientAuth: 30,
  appCreate: 300,
  licenseCreate: 30,
  blindCreate: 30,
  licenseRows: 100_000,
  answerKilobytes: 10_000,
  accountSensitive: 20,
  apiKeyAuth: 30,
  /** Requests that send something to a webhook: tests, redeliveries and replays. */
  webhookSend: 30,
} as const;

export type RateLimitName = keyof typeof rateLimitDefaults;

/** Length of every window, in seconds. */
export const rateLimitWindowSeconds = 60;
