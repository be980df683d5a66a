/** How many things one owner can have, by the names that `COUNT_LIMITS` gives them. */
export const countLimitDefaults = {
  /** Applications of a developer. */
  applications: 1_000,
  /** API keys of a developer that work; revoked ones do not count. */
  apiKeys: 100,
  /** Banned devices and addresses of an application. */
  bans: 100_000,
  /** Sessions of an end user: a new one ends the oldest. */
  sessions: 50,
} as const;

export type CountLimitName = keyof typeof countLimitDefaults;
