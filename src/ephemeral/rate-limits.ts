/** The named limits of the interface ("Limits"): requests a client address and 60-second window. */
export const rateLimitDefaults = {
  auth: 20,
  session: 60,
  validate: 120,
  clientAuth: 30,
  licenseCreate: 30,
  blindCreate: 30,
  accountSensitive: 20,
  apiKeyAuth: 30,
} as const;

export type RateLimitName = keyof typeof rateLimitDefaults;

/** Length of every window, in seconds. */
export const rateLimitWindowSeconds = 60;
