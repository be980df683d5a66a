/** Maximum number of things per owner, with the names used in `COUNT_LIMITS`. */
export const countLimitDefaults = {
  /** Applications per developer. */
  applications: 1_000,
  /** Active API keys per developer; revoked ones do not count. */
  apiKeys: 100,
  /** Banned devices and addresses per application. */
  bans: 100_000,
  /** Policies per application. */
  policies: 200,
  /** Dashboard sessions per developer; a new one ends the oldest. */
  accountSessions: 100,
  /** Webhooks per developer. */
  webhooks: 20,
  /** Sessions per end user; a new one ends the oldest. */
  sessions: 50,
} as const;

export type CountLimitName = keyof typeof countLimitDefaults;
