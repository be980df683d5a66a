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
  /** Metadata has the scope, and the device and address that were banned with it. */
  'license_banned',
  /** A client asked for a session and was refused; the code says why. */
  'session_refused',
  /** A client asked whether a license is valid; the code is the verdict. */
  'license_validated',
  'api_key_created',
] as const;

export type SecurityEvent = (typeof securityEvents)[number];
