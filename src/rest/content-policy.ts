/**
 * Content-Security-Policy of HTML pages: they load from and connect to this service only. Inline scripts are forbidden,
 * so an injected one does not run. Inline styles and `data:` fonts and images are allowed because both page libraries
 * use them.
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

/** Header fields of an HTML page. */
export const pageFields = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': pagePolicy,
} as const;
