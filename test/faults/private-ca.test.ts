import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { createRedisStore } from '../../src/ephemeral/redis.ts';
import { parseRedisUrl } from '../../src/ephemeral/redis-address.ts';
import { startCommand } from '../cli/command-process.ts';
import { runCommand } from '../cli/run-command.ts';
import { freePort, hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { silent } from '../setup/database.ts';
import { findPostgresql, OwnPostgresql } from '../setup/own-postgresql.ts';
import { OwnSentinels } from '../setup/own-redis.ts';
import { type IssuedCertificate, PrivateCa } from '../setup/private-ca.ts';
import { startServiceProcess } from '../setup/process.ts';

// Servers with certificates of a private CA: the operator gets an error about the certificate if that is the problem,
// and not about the network.

const secret = 'Zk3vQ9x7Lr2mT8bN5cW1yH6jD4sF0gPaKu+oEi/RqXM=';
const unknownCa =
  /has a certificate from an unknown CA \((SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY)\).*NODE_EXTRA_CA_CERTS/;
const otherName = /certificate for other names.*\(ERR_TLS_CERT_ALTNAME_INVALID\)/;
const network = /check that it runs|that the server runs|cannot reach/i;

let ca: PrivateCa;
beforeAll(() => {
  ca = new PrivateCa();
});
afterAll(() => ca.remove());

const programs = findPostgresql();

describe.skipIf(programs === null)('a PostgreSQL server with a certificate of a private CA', () => {
  let server: OwnPostgresql;
  beforeAll(async () => {
    const { certificate, key } = ca.issue('DNS:localhost');
    server = await OwnPostgresql.start(programs ?? '', tmpdir(), [
      'ssl=on',
      `ssl_cert_file=${certificate}`,
      `ssl_key_file=${key}`,
    ]);
  });
  afterAll(() => server.remove());

  const urlAt = (host: string, parameters: string) =>
    `${server.url.replace('127.0.0.1', host)}?sslmode=verify-full${parameters}`;
  const failure = (url: string) =>
    openDatabase({ kind: 'server', url }, { log: silent }).then(
      () => expect.fail('It was opened'),
      (error: unknown) => error,
    );

  test('is used over TLS if DATABASE_URL names the CA', async () => {
    const url = urlAt('localhost', `&sslrootcert=${ca.certificate}`);
    const database = await openDatabase({ kind: 'server', url }, { log: silent });
    onTestFinished(() => database.close());
    const { rows } = await database.pool.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    expect(rows).toEqual([{ ssl: true }]);
  });

  test('is otherwise refused with the reason', async () => {
    const cases: [string, RegExp][] = [
      [urlAt('localhost', ''), unknownCa],
      [urlAt('127.0.0.1', `&sslrootcert=${ca.certificate}`), otherName],
      [
        urlAt('localhost', '&sslrootcert=/nowhere/ca.pem'),
        /The file \/nowhere\/ca\.pem.*sslrootcert.*ENOENT/,
      ],
    ];
    for (const [url, reason] of cases) {
      const error = await failure(url);
      expect(error).toMatchObject({ name: 'DatabaseStartError', problem: 'tls' });
      expect(String(error)).toMatch(reason);
      expect(String(error)).not.toMatch(network);
      const { stdout } = await runCommand(['doctor'], { DATABASE_URL: url, SERVICE_SECRET: secret });
      expect(stdout).toMatch(reason);
    }
  });
});

describe.skipIf(!hasRedisServer)('a Redis with a certificate of a private CA', () => {
  async function start({ certificate, key }: IssuedCertificate, ...more: string[]) {
    const port = await freePort();
    const files = [
      '--tls-cert-file',
      certificate,
      '--tls-key-file',
      key,
      '--tls-ca-cert-file',
      ca.certificate,
    ];
    await OwnRedis.start('--tls-port', String(port), ...files, '--tls-auth-clients', 'no', ...more);
    return port;
  }
  const failure = (url: string) =>
    createRedisStore({ address: parseRedisUrl(url), keyPrefix: 'latchkey-test:' }).then(
      () => expect.fail('It was opened'),
      (error: unknown) => String(error),
    );
  /** The output of doctor in a process whose Node.js trusts the CA. */
  async function examine(url: string) {
    const env = { DATA_DIR: 'memory:', REDIS_URL: url, NODE_EXTRA_CA_CERTS: ca.certificate };
    const { ended } = startCommand(['doctor'], env);
    return (await ended).stdout;
  }

  test('is used if Node.js trusts the CA, and otherwise refused with the reason', async () => {
    const port = await start(ca.issue('DNS:localhost'));
    expect(await failure(`rediss://localhost:${port}`)).toMatch(unknownCa);
    expect(await failure(`rediss://localhost:${port}`)).not.toMatch(network);
    expect(await examine(`rediss://localhost:${port}`)).toMatch(/Redis \d.* at localhost/);
    expect(await examine(`rediss://127.0.0.1:${port}`)).toMatch(otherName);
  });

  test('is refused with the reason if its certificate has expired', async () => {
    const port = await start(ca.issue('DNS:localhost', -1));
    expect(await examine(`rediss://localhost:${port}`)).toMatch(/expired \(CERT_HAS_EXPIRED\)/);
  });

  test('gets an error that asks about TLS if it hangs up or does not answer', { tags: 'slow' }, async () => {
    const advice = /uses TLS on this port, and requires no client certificates/;
    const plain = await OwnRedis.start();
    expect(await failure(plain.url.replace('redis:', 'rediss:'))).toMatch(advice);
    const strict = await start(ca.issue('DNS:localhost'), '--tls-auth-clients', 'yes');
    // Node.js may see the alert or the end of the connection first.
    const asked = /requires a client certificate .*set tls-auth-clients to no/;
    expect(await examine(`rediss://localhost:${strict}`)).toMatch(
      new RegExp(`${advice.source}|${asked.source}`),
    );
  });

  test('is found through sentinels over TLS, with the user of an ACL, and again after a failover', {
    tags: 'slow',
  }, async () => {
    const { certificate, key } = ca.issue('IP:127.0.0.1');
    const tls = (port: number) => [
      ['port', '0'],
      ['tls-port', String(port)],
      ['tls-cert-file', certificate],
      ['tls-key-file', key],
      ['tls-ca-cert-file', ca.certificate],
      ['tls-auth-clients', 'no'],
      ['tls-replication', 'yes'],
    ];
    const commands = '+@read +@write +@scripting +@pubsub +@connection +info +time';
    const trust = { tls: { ca: readFileSync(ca.certificate) } };
    const sentinels = await OwnSentinels.start({
      options: (port) => [
        ...tls(port).flatMap(([name = '', value = '']) => [`--${name}`, value]),
        ...['--requirepass', 'operator', '--masterauth', 'operator'],
        ...`--user latchkey on >pa55word ~latchkey:* &latchkey:* ${commands}`.split(' '),
      ],
      lines: (port) => [
        ...tls(port).map((words) => words.join(' ')),
        `sentinel auth-pass ${OwnSentinels.masterName} operator`,
        'requirepass of-sentinels',
        'sentinel sentinel-pass of-sentinels',
      ],
      client: { ...trust, password: 'operator' },
      sentinelClient: { ...trust, password: 'of-sentinels' },
    });
    onTestFinished(() => sentinels.close());
    const url = sentinels.url.replace('redis+sentinel://', 'rediss+sentinel://latchkey:pa55word@');
    const right = `${url}?sentinelPassword=of-sentinels`;
    expect(await failure(right)).toMatch(unknownCa);
    expect(await examine(right)).toMatch(/Redis \d.* at 127\.0\.0\.1/);
    expect(await examine(url)).toMatch(/refuses \(WRONGPASS\): set sentinelUser and sentinelPassword/);
    const wrong = await examine(right.replace('pa55word', 'wr0ngword'));
    expect(wrong).toMatch(/cannot be used: WRONGPASS/);
    expect(wrong).not.toMatch(/wr0ngword|of-sentinels/);

    const env = { DATA_DIR: 'memory:', REDIS_URL: right, NODE_EXTRA_CA_CERTS: ca.certificate };
    const service = await startServiceProcess(env);
    onTestFinished(async () => void (await service.stop()));
    const status = async () => (await fetch(`${service.url}/health/ready`)).status;
    expect(await status()).toBe(200);
    await (await sentinels.master()).kill();
    const patient = { timeout: 60_000, interval: 20 };
    await vi.waitFor(async () => expect(await status()).toBe(503), patient);
    await vi.waitFor(async () => expect(await status()).toBe(200), patient);
    expect(service.output()).not.toMatch(/pa55word|of-sentinels/);
  });
});
