/** Where a request came from. */
export interface ClientOrigin {
  /**
   * Canonical text of the address: RFC 5952 for IPv6, dotted for IPv4, even if it was mapped into IPv6. Null if it could not
   * be parsed: then it is neither stored nor compared with bans.
   */
  readonly ip: string | null;
  /** Bucket of the rate limits: the IPv4 address, the /64 of an IPv6 one, or `unknown`. */
  readonly limitKey: string;
  /** ISO 3166-1 alpha-2; null if unknown. */
  readonly country: string | null;
}
