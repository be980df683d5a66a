/**
 * The named limits: requests per client address and 60-second window. `licenseRows` is instead the number of licenses that
 * one developer may create in a window, over all requests and addresses.
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
