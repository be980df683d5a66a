/**
 * Content-Security-Policy of a page. It may load from this service alone, and ask this service alone; no script stands
 * in the page itself, so one that was smuggled into it does not run. The libraries of both pages write style elements
 * as they go, and carry fonts and pictures in their style sheets.
 */
export const pagePolicy: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The header fields of a page. */
export const pageFields = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': pagePolicy,
} as const;
