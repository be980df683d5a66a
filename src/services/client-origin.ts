/** Where a request came from. */
export interface ClientOrigin {
  /**
   * Canonical text of the address: RFC 5952 for IPv6, dotted for IPv4 also when it came mapped into IPv6. Null when it
   * could not be read: then it is neither stored nor matched against bans.
   */
  readonly ip: string | null;
  /** Bucket of the rate limits: the IPv4 address, the /64 of an IPv6 one, or `unknown`. */
  readonly limitKey: string;
  /** ISO 3166-1 alpha-2, when it is known. */
  readonly country: string | null;
}
