import { type CountryResponse, open } from 'maxmind';

/** The MMDB file is missing or invalid. */
export class CountryDatabaseError extends Error {
  override readonly name = 'CountryDatabaseError';
}

/**
 * Opens an IP address database in MaxMind's MMDB format, such as GeoLite2-Country or DB-IP.
 * @returns a function that maps an address to an ISO 3166-1 alpha-2 code, or to null if its country is unknown
 * @throws {CountryDatabaseError}
 */
export async function openCountryDatabase(path: string): Promise<(ip: string) => string | null> {
  try {
    const reader = await open<CountryResponse>(path);
    return (ip) => reader.get(ip)?.country?.iso_code ?? null;
  } catch (error) {
    throw new CountryDatabaseError(
      `GEOIP_DB: ${path} cannot be read as an MMDB file (${error instanceof Error ? error.message : String(error)}).`,
    );
  }
}
