import { type CountryResponse, open } from 'maxmind';

/** The MMDB file is missing or is none. */
export class CountryDatabaseError extends Error {
  override readonly name = 'CountryDatabaseError';
}

/**
 * Opens a database of addresses in MaxMind's MMDB format (GeoLite2-Country, DB-IP and their like).
 * @returns the ISO 3166-1 alpha-2 code of an address; null when it is in no country that the file knows
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
