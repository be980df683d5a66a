/** All kinds of security log entries. Kinds keep their names, because old entries have them. */
export const securityEvents = [
  /** An account was created. */
  'developer_registered',
  /** Someone logged in to the dashboard. */
  'developer_logged_in',
  /** Someone entered a wrong password for the account. */
  'developer_login_failed',
  /** Someone entered the right password and a wrong TOTP or recovery code. */
  'totp_failed',
  'totp_enabled',
  /** Metadata says whether an operator did it. */
  'totp_disabled',
  /** Metadata has the number of codes that are left. */
  'recovery_code_used',
  /** The codes before are no longer good. */
  'recovery_codes_renewed',
  /** Sessions of the dashboard were ended from another one or with an API key; metadata has their number. */
  'sessions_revoked',
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
  /** It is unused or active again, or suspended if it was. Metadata has the number of bans that were lifted with it. */
  'license_unbanned',
  /** Metadata has the reason, and whether the remaining term is kept. */
  'license_suspended',
  /** Metadata has the seconds by which the term was moved. */
  'license_reinstated',
  /** One license, by a bulk action. Metadata has the seconds and the new expiry. */
  'license_extended',
  /** Metadata has the seconds, where they begin, and the new expiry. */
  'license_renewed',
  /** Metadata lists the names of the changed fields, without values. */
  'license_changed',
  /** Metadata has the prefix of the old key, and how long it stays good. The keys themselves are not stored. */
  'license_key_rotated',
  /** Metadata has the old and the new tier. */
  'license_tier_changed',
  'license_deleted',
  /** Of a policy; metadata has its id and code. */
  'policy_created',
  /** Metadata lists the names of the changed members. */
  'policy_changed',
  'policy_deleted',
  /** Of a license; metadata has the policy's id and code, and the names of the values that the license had not. */
  'policy_applied',
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
  /** Metadata has the device's id, and the previous and the new name. */
  'device_renamed',
  /** A device lost its place; metadata has its id, who released it (vendor, customer or idle), and its name if it has one. */
  'device_released',
  /** A customer bound a device to their license; metadata has its id, and that of the device whose place it got. */
  'device_moved',
  /** A customer's request about the devices of a license was refused; the code says why, the metadata has the call. */
  'self_service_refused',
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
  /** Metadata lists the names of the changed fields, without values. */
  'api_key_changed',
  /** It has a new token. Metadata has how long the old one stays good. */
  'api_key_rotated',
  'api_key_revoked',
  /** Metadata lists the names of the changed fields, without values. */
  'account_changed',
  'account_exported',
  'webhook_created',
  /** Metadata lists the names of the changed members, without values. */
  'webhook_changed',
  'webhook_deleted',
  'webhook_secret_rotated',
  /** By the service; metadata has the reason: the receiver answered 410 Gone, or no attempt succeeded for three days. */
  'webhook_disabled',
] as const;

export type SecurityEvent = (typeof securityEvents)[number];
