/** Maximum number of things per owner, with the names used in `COUNT_LIMITS`. */
export const countLimitDefaults = {
  /** Applications per developer. */
  applications: 1_000,
  /** Active API keys per developer; revoked ones do not count. */
  apiKeys: 100,
  /** Banned devices and addresses per application. */
  bans: 100_000,
  /** Sessions per end user; a new one ends the oldest. */
  sessions: 50,
} as const;

export type CountLimitName = keyof typeof countLimitDefaults;
