const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

/** The name of a country; null if it is unknown. */
export function countryOf(code: string | null | undefined): string | null {
  if (!code) return null;
  try {
    return names.of(code) ?? code;
  } catch {
    // Not the form of a code.
    return code;
  }
}
