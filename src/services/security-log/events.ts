/** All kinds of security log entries. Kinds keep their names, because old entries have them. */
export const securityEvents = [
  /** An account was created. */
  'developer_registered',
  /** Someone logged in to the dashboard. */
  'developer_logged_in',
  /** Someone entered a wrong password for the account. */
  'developer_login_failed',
  'application_created',
  /** Metadata lists the changed fields. */
  'application_settings_changed',
  /** The application's own entries were deleted with it; this one is kept with the account. */
  'application_deleted',
  /** Metadata has their number. The keys themselves are not stored. */
  'licenses_created',
  /** Metadata has the seconds, and the number of extended licenses. */
  'licenses_extended',
  /** Metadata has the scope, and the device and address that were banned too. */
  'license_banned',
  /** Metadata has the old and the new tier. */
  'license_tier_changed',
  'license_deleted',
  /**
   * A device got a lease; metadata has its end and its sequence number, and for one that a developer issued for a device
   * without a network, the device's hash. Of leases that a device renews, one is logged per half of their term.
   */
  'lease_issued',
  /**
   * A device asked with an older lease than the last that was issued to it; metadata has both sequence numbers. Its disk was
   * set back, or it did not receive the last one.
   */
  'lease_rolled_back',
  /** Of a license or an end user; metadata has the previous device. */
  'hwid_reset',
  /** A ban of a device or an address was lifted; the license that caused it stays banned. */
  'ban_removed',
  /** A developer created an end user's account. */
  'user_created',
  'user_deleted',
  /** A client was refused a session; the code says why. */
  'session_refused',
  /** A client validated a license; the code is the verdict. */
  'license_validated',
  /** An end user tried to register; the code is the verdict. */
  'user_registered',
  /** An end user tried to log in; the code is the verdict. */
  'user_logged_in',
  /** An end user tried to upgrade to a license of a higher tier; the code is the verdict. */
  'user_upgraded',
  'api_key_created',
  'api_key_revoked',
  /** Metadata lists the names of the changed fields, without values. */
  'account_changed',
  'account_exported',
] as const;

export type SecurityEvent = (typeof securityEvents)[number];
