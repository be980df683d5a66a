import { describe, expect, test } from 'vitest';
import { sql } from '../setup/stored.ts';
import { forFile, useServer } from '../setup/use-world.ts';
import { LicensesDocument } from './generated/graphql.ts';
import { createGraphqlWorld, noLimits, payloadOf } from './support.ts';

/** More than the first statement of a count counts row by row. */
const many = 10_001;

describe.each(
  process.env.TEST_DATABASE_URL === undefined ? ['memory' as const] : ['memory' as const, 'server' as const],
)('the count of a list that is too long to be counted (%s)', (database) => {
  const server = useServer({ env: noLimits, database });
  const world = forFile(() => createGraphqlWorld(server));

  async function totalCount(applicationId: string): Promise<number> {
    const { licenses } = payloadOf(
      await world.graphql.request(LicensesDocument, { applicationId }),
      'application',
    );
    return licenses.totalCount;
  }

  test('is exact after mints, changes, deletions, and while a mint is under way', async () => {
    const other = await world.createApplication();
    await other.mint({ amount: 3 });
    const application = await world.createApplication();
    await application.mint({ amount: 10_000 });
    const [one, two, three, four] = await application.mint({ amount: many - 10_000 + 4 });
    expect(await totalCount(application.id)).toBe(many + 4);
    await world.client.post(`/api/v1/licenses/${one?.id}/ban`, { scope: 'license' });
    await world.client.post(`/api/v1/licenses/${two?.id}/suspend`, {});
    expect(await totalCount(application.id)).toBe(many + 4);
    await world.client.delete(`/api/v1/licenses/${three?.id}`);
    expect(await totalCount(application.id)).toBe(many + 3);
    expect(await totalCount(other.id)).toBe(3);
    if (database === 'server') return;
    await sql(
      server,
      'INSERT INTO mint_under_way (application_id, amount, from_id, to_id) VALUES ($1, 1, $2, $2)',
      [application.id, four?.id],
    );
    expect(await totalCount(application.id)).toBe(many + 2);
    await sql(server, 'DELETE FROM mint_under_way', []);
  });
});
