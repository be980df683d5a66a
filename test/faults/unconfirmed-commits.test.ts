import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { checkStandby } from '../../src/cli/doctor/check-standby.ts';
import { noLimits } from '../api/support.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { createCallClient } from '../setup/call-client.ts';
import { openEventStream } from '../setup/event-stream.ts';
import { dataOf, readAnswer } from '../setup/graphql-client.ts';
import { OwnPgbouncer } from '../setup/own-pgbouncer.ts';
import { findPostgresql, OwnPostgresql } from '../setup/own-postgresql.ts';
import { hasPgbouncer } from '../setup/pgbouncer-program.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';

const programs = findPostgresql();
const patient = { timeout: 20_000, interval: 20 };
/** The service promises three seconds. The rest is for a busy machine. */
const bound = 5_000;
/** The size of the pool. */
const connections = 10;

const applications = z.object({ applications: z.array(z.object({ name: z.string() })) });

describe.skipIf(programs === null)('while a synchronous standby does not answer', () => {
  let primary: OwnPostgresql;
  let standby: OwnPostgresql;
  let env: Readonly<Record<string, string>>;
  let server: TestServer;
  let observer: pg.Client;
  let world: World;
  let application: SeededApplication;
  let session: SealedSession;
  let licenseKey: string;

  beforeAll(async () => {
    primary = await OwnPostgresql.start(programs ?? '');
    standby = await primary.startStandby();
    observer = new pg.Client({ connectionString: primary.url });
    await observer.connect();
    await observer.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    // The service relies on a warning, whatever the server sends.
    await observer.query(`ALTER SYSTEM SET client_min_messages = 'error'`);
    await observer.query('SELECT pg_reload_conf()');
    const SERVICE_SECRET = randomBytes(32).toString('base64');
    env = { ...noLimits, DATABASE_URL: primary.url, SERVICE_SECRET };
    server = await startTestServer({ database: 'memory', env });
    world = await createWorld(server);
    application = await world.createApplication();
    ({ licenseKey } = await application.mintOne());
    session = await openSession(server, application);
  });
  afterAll(async () => {
    standby.resume();
    try {
      await server.close();
      await observer.end();
    } finally {
      await standby.remove();
      await primary.remove();
    }
  });

  const validate = () => session.ask(validatePath, { licenseKey });
  const sendValidation = (key: string) =>
    session.client.post(validatePath, session.seal(session.inner({ licenseKey: key })));
  const withKey = (key: string) => world.client.with({ headers: { 'Idempotency-Key': key } });
  const create = (name: string, key: string) => withKey(key).post('/api/v1/apps/create', { name });
  const createByGraphql = (name: string, key: string) =>
    withKey(key).post('/graphql', {
      query:
        'mutation Create($input: CreateApplicationInput!) { createApplication(input: $input) { application { name } } }',
      variables: { input: { name } },
    });
  const names = async () => {
    const { status, body } = await world.client.get('/api/v1/apps');
    expect(status).toBe(200);
    return applications.parse(body).applications.map(({ name }) => name);
  };
  const report = () => server.deps.readiness.report();
  const waitingBackends = async () =>
    (await observer.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)).rowCount ?? 0;
  const linesWith = (text: string) => server.logLines.filter((line) => line.includes(text)).length;

  async function loseStandby(): Promise<void> {
    await vi.waitFor(() => expect(report().ready).toBe(true), patient);
    // Twice: the first validation may bind or activate, which invalidates what is cached.
    for (const _time of ['first', 'cached']) expect(await validate()).toMatchObject({ code: 'OK' });
    onTestFinished(() => standby.resume());
    standby.pause();
  }
  async function timed<Result>(work: Promise<Result>): Promise<{ result: Result; milliseconds: number }> {
    const start = performance.now();
    const result = await work;
    return { result, milliseconds: performance.now() - start };
  }

  test('writes are answered UNAVAILABLE and made once when repeated; cached licenses are validated', async () => {
    const [rest, graphql] = ['Made over REST', 'Made over GraphQL'];
    const [restKey, graphqlKey] = [randomUUID(), randomUUID()];
    const caller = createCallClient(server, application);
    const call = () => caller.ask('validate', { licenseKey });
    expect(await call()).toMatchObject({ code: 'OK' });
    await loseStandby();
    const lost = performance.now();
    const writes = Promise.all([timed(create(rest, restKey)), timed(createByGraphql(graphql, graphqlKey))]);
    const told = vi.waitFor(() => expect(report().ready).toBe(false), patient).then(() => performance.now());
    for (const until = performance.now() + 4_000; performance.now() < until; await sleep(20))
      for (const answer of [await validate(), await call()]) expect(answer).toMatchObject({ code: 'OK' });
    const [overRest, overGraphql] = await writes;
    expect(overRest.result).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    expect(JSON.stringify(overGraphql.result.body)).toContain('"code":"UNAVAILABLE"');
    for (const milliseconds of [overRest.milliseconds, overGraphql.milliseconds, (await told) - lost])
      expect(milliseconds).toBeLessThan(bound);
    expect(report().parts.database).toEqual({
      ready: false,
      detail: expect.stringContaining('a synchronous standby is missing'),
    });
    expect((await world.client.get('/health')).status).toBe(200);
    const { pool } = server.deps.services.database;
    // The first request still runs, for all that PostgreSQL knows.
    expect([409, 503]).toContain((await create(rest, restKey)).status);
    const advice = expect.stringMatching(/^[1-9]\d* commits wait .* "\*".* Do not cancel/);
    expect(await checkStandby(pool)).toMatchObject({ level: 'fail', message: advice });

    standby.resume();
    await vi.waitFor(() => expect(report().ready).toBe(true), patient);
    expect(await checkStandby(pool)).toMatchObject({ level: 'ok' });
    expect(await create(rest, restKey)).toMatchObject({ status: 201 });
    expect(dataOf(readAnswer(await createByGraphql(graphql, graphqlKey)))).toBeTruthy();
    expect((await names()).filter((name) => name === rest || name === graphql).sort()).toEqual([
      graphql,
      rest,
    ]);
  });

  test('however many writes are tried, few backends wait, reads are answered, and the log says it once', async () => {
    const unused = await application.mint({ amount: 20 });
    const [noted, ended] = [linesWith('does not confirm writes'), linesWith('accepts writes again')];
    const errors = linesWith('security log could not be written');
    await loseStandby();
    const tries = async (each: number) => {
      for (let count = 0; count < each; count += 1) {
        const { result, milliseconds } = await timed(create(`Not made ${count}`, randomUUID()));
        expect(result).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
        expect(milliseconds).toBeLessThan(bound);
      }
    };
    await Promise.all(Array.from({ length: 20 }, () => tries(10)));
    expect(await waitingBackends()).toBeLessThanOrEqual(connections + 2);
    // First uses write.
    for (const unavailable of await Promise.all(unused.map(({ licenseKey }) => sendValidation(licenseKey))))
      expect(unavailable.status).toBe(503);
    expect(await names()).not.toContain('Not made 9');
    expect(await waitingBackends()).toBeLessThanOrEqual(connections + 2);
    standby.resume();
    await vi.waitFor(() => expect(report().ready).toBe(true), patient);
    expect(linesWith('does not confirm writes') - noted).toBe(1);
    expect(linesWith('accepts writes again') - ended).toBe(1);
    expect(linesWith('security log could not be written') - errors).toBeLessThanOrEqual(1);
  });

  test('the security log waits, and has each entry once afterwards', async () => {
    const own = await world.createApplication();
    const { licenseKey: key } = await own.mintOne();
    const visitor = await openSession(server, own);
    let validated = 0;
    const validateOwn = async () => {
      expect(await visitor.ask(validatePath, { licenseKey: key })).toMatchObject({ code: 'OK' });
      validated += 1;
    };
    await validateOwn();
    await validateOwn();
    await loseStandby();
    // Some of them are in a batch whose commit hangs.
    for (const until = performance.now() + 4_000; performance.now() < until; await sleep(20))
      await validateOwn();
    expect(report().ready).toBe(false);
    standby.resume();
    await vi.waitFor(() => expect(server.deps.services.securityLog.waiting).toBe(0), patient);
    const stored = `SELECT count(*)::int AS count FROM security_log
      WHERE application_id = $1 AND event = 'license_validated'`;
    expect(await sql(server, stored, [own.id])).toEqual([{ count: validated }]);
    const counted = 'SELECT sum(count)::int AS count FROM validation_counts WHERE application_id = $1';
    // Counts of a failed write come before those of later entries.
    const isCounted = async () =>
      expect(await sql(server, counted, [own.id])).toEqual([{ count: validated }]);
    await vi.waitFor(isCounted, patient);
  });

  test('a commit that an administrator cancels is not acknowledged', async () => {
    await loseStandby();
    let isAnswered = false;
    const creating = create('Cancelled', randomUUID()).finally(() => (isAnswered = true));
    // Also those of the security log, which look the same.
    for (; !isAnswered; await sleep(20))
      await observer.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'`,
      );
    expect(await creating).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    // PostgreSQL has made it.
    expect(await names()).toContain('Cancelled');
  });

  test('a live stream of the log has an entry that was committed late', { tags: 'slow' }, async () => {
    const own = await world.createApplication();
    const { id } = await own.mintOne();
    const query = `subscription { securityLog(applicationId: "${own.id}") { event } }`;
    const stream = await openEventStream(world.client, { query });
    onTestFinished(() => stream.close());
    await loseStandby();
    expect(await world.client.post(`/api/v1/licenses/${id}/ban`, {})).toMatchObject({ status: 503 });
    // Longer than streams wait for a commit that was cut for another reason.
    await sleep(9_000);
    standby.resume();
    expect(await stream.take(1)).toEqual([{ event: 'license_banned' }]);
    await vi.waitFor(() => expect(report().ready).toBe(true), patient);
  });

  test.skipIf(!hasPgbouncer)(
    'the same behind a connection pooler, except that reads are refused too',
    { tags: 'slow' },
    async () => {
      const pooler = await OwnPgbouncer.start(primary.url);
      onTestFinished(() => pooler.remove());
      const pooled = await startTestServer({
        database: 'memory',
        env: { ...env, DATABASE_URL: pooler.urlOf(primary.url) },
      });
      onTestFinished(() => pooled.close());
      const login = await new ApiClient(pooled.baseUrl).post('/api/v1/auth/login', world.login);
      const cookie = cookieOf(login) ?? '';
      const visitor = await openSession(pooled, application);
      const validatePooled = () => visitor.ask(validatePath, { licenseKey });
      const list = () => new ApiClient(pooled.baseUrl, { cookie }).get('/api/v1/apps');
      const pooledReport = () => pooled.deps.readiness.report();
      await loseStandby();
      for (const _time of ['first', 'cached']) expect(await validatePooled()).toMatchObject({ code: 'OK' });
      // Its batch of the security log waits.
      await vi.waitFor(() => expect(pooledReport().ready).toBe(false), patient);
      expect(await list()).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
      const before = await waitingBackends();
      for (const until = performance.now() + 3_000; performance.now() < until; await sleep(20))
        expect(await validatePooled()).toMatchObject({ code: 'OK' });
      expect(await waitingBackends()).toBe(before);
      standby.resume();
      await vi.waitFor(() => expect(pooledReport().ready).toBe(true), patient);
      expect(await list()).toMatchObject({ status: 200 });
    },
  );
});
