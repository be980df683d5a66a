import { expect } from 'vitest';

/** Reads a header field by its lower-case name. */
interface Fields {
  get(name: string): string | null | undefined;
}

const everywhere = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** Directives of a Content-Security-Policy with their sources. */
export function policyOf(fields: Fields): ReadonlyMap<string, readonly string[]> {
  const text = fields.get('content-security-policy') ?? '';
  return new Map(
    text.split(';').map((directive) => {
      const [name = '', ...sources] = directive.trim().split(/ +/);
      return [name, sources];
    }),
  );
}

/** Checks the header fields that protect a response from other sites. */
export function expectClosedToOtherSites(fields: Fields, what: string): void {
  for (const [name, value] of Object.entries(everywhere))
    expect(fields.get(name), `${what}: ${name}`).toBe(value);
  const policy = policyOf(fields);
  expect(policy.get('default-src'), what).toEqual(["'none'"]);
  expect(policy.get('frame-ancestors'), what).toEqual(["'none'"]);
}

/** Also checks that a response with data is not cacheable and loads nothing. */
export function expectClosedData(fields: Fields, what: string): void {
  expectClosedToOtherSites(fields, what);
  expect(fields.get('cache-control'), what).toBe('no-store');
  expect([...policyOf(fields).keys()], what).toEqual(['default-src', 'frame-ancestors']);
}
