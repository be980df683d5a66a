/**
 * SQL for the time until which a revoked lease is in the list. A client accepts a clock that is up to an hour slow, so
 * for it, leases end an hour later.
 */
export const listedUntil = `(expires_at + interval '1 hour')`;
