import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CountryDatabaseError } from '../../src/lib/country-database.ts';
import { ApiClient } from '../setup/api-client.ts';
import { mmdbOf } from '../setup/mmdb.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-mmdb-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a log entry has the country of the address in the MMDB file, or none', async () => {
  const file = join(folder, 'country.mmdb');
  writeFileSync(file, mmdbOf('203.0.113.0', 24, 'SE'));
  const server = await startTestServer({ env: { GEOIP_DB: file, COUNTRY_HEADER: 'CF-IPCountry' } });
  try {
    const world = await createWorld(server);
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const from = async (ip: string, headers: Record<string, string> = {}) => {
      const session = await openSession(server, application, {
        client: new ApiClient(server.baseUrl, { ip, headers }),
      });
      await session.ask(validatePath, { licenseKey });
      await server.deps.services.securityLog.flush();
      const entry = await server.deps.services.database.prisma.securityLogEntry.findFirst({
        where: { applicationId: application.id, ip },
        orderBy: { id: 'desc' },
        select: { country: true },
      });
      return entry?.country;
    };
    expect(await from('203.0.113.77')).toBe('SE');
    expect(await from('203.0.114.77')).toBeNull();
    // The header of a trusted proxy has priority, unless its value is not a country.
    expect(await from('203.0.113.78', { 'CF-IPCountry': 'NO' })).toBe('NO');
    expect(await from('203.0.113.79', { 'CF-IPCountry': 'nowhere' })).toBe('SE');
  } finally {
    await server.close();
  }
});

test('an invalid file fails the start with its name', async () => {
  const file = join(folder, 'broken.mmdb');
  writeFileSync(file, 'not a database');
  const start = startTestServer({ env: { GEOIP_DB: file } });
  await expect(start).rejects.toThrow(CountryDatabaseError);
  await expect(start).rejects.toThrow(file);
});
