/** Every kind of entry in the security log. A kind, once written, keeps its name. */
export const securityEvents = [
  /** An account was made. */
  'developer_registered',
  /** Someone logged in to the dashboard. */
  'developer_logged_in',
  /** Someone gave a wrong password for the account. */
  'developer_login_failed',
  'application_created',
  /** Metadata names the fields that changed. */
  'application_settings_changed',
  /** The application's own entries went with it; this one stays with the account. */
  'application_deleted',
  /** Metadata counts them; the keys themselves are nowhere. */
  'licenses_created',
  /** Metadata has the seconds, and how many licenses got them. */
  'licenses_extended',
  /** Metadata has the scope, and the device and address that were banned with it. */
  'license_banned',
  /** Metadata has the tier from and to. */
  'license_tier_changed',
  'license_deleted',
  /** Of a license or an end user; metadata has the device it was. */
  'hwid_reset',
  /** A ban row was removed; the license that caused it stays banned. */
  'ban_removed',
  /** A developer made an end user's account. */
  'user_created',
  'user_deleted',
  /** A client asked for a session and was refused; the code says why. */
  'session_refused',
  /** A client asked whether a license is valid; the code is the verdict. */
  'license_validated',
  /** An end user registered themselves, or tried to; the code is the verdict. */
  'user_registered',
  /** An end user logged in, or tried to; the code is the verdict. */
  'user_logged_in',
  /** An end user took a license of a higher tier, or tried to; the code is the verdict. */
  'user_upgraded',
  'api_key_created',
  'api_key_revoked',
  /** Metadata names the fields; a password only by its name. */
  'account_changed',
  'account_exported',
] as const;

export type SecurityEvent = (typeof securityEvents)[number];
