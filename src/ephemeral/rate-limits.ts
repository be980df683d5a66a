/**
 * The named limits: of the interface ("Limits"), requests a client address and 60-second window; and licenseRows, the
 * licenses that one developer creates in a window, however many requests and addresses they come from.
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
  accountSensitive: 20,
  apiKeyAuth: 30,
} as const;

export type RateLimitName = keyof typeof rateLimitDefaults;

/** Length of every window, in seconds. */
export const rateLimitWindowSeconds = 60;
