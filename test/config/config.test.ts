import { describe, expect, test } from 'vitest';
import { ConfigError, connectionsBesidePool, loadConfig } from '../../src/config.ts';
import { rateLimitDefaults } from '../../src/ephemeral/rate-limits.ts';

const secret = 'k'.repeat(32);

/** The problems of an environment. */
function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('an empty environment is a working configuration, with the defaults of the design', () => {
  expect(loadConfig({})).toEqual({
    production: false,
    port: 4000,
    host: '127.0.0.1',
    publicUrl: 'http://127.0.0.1:4000',
    database: { kind: 'embedded', directory: './data' },
    redis: null,
    redisPrefix: 'latchkey:',
    serviceSecret: null,
    previousSecret: null,
    cryptoEnforce: true,
    registrationOpen: true,
    metrics: null,
    shutdownSeconds: 5,
    turnstile: null,
    trustProxy: 0,
    countryHeader: null,
    geoipDatabase: null,
    corsOrigins: [],
    rateLimits: rateLimitDefaults,
    countLimits: {
      applications: 1_000,
      apiKeys: 100,
      bans: 100_000,
      policies: 200,
      accountSessions: 100,
      webhooks: 20,
      sessions: 50,
    },
    logRetentionDays: 90,
    logBufferSeconds: 60,
    logRepeats: 'all',
    logPartitions: 'week',
    migrate: 'auto',
    webhookAllow: [],
    eventRetentionDays: 30,
    staleIfDownSeconds: 600,
    cachedLicenses: 50_000,
    logLevel: 'info',
    workers: 1,
    databaseConnections: 10,
  });
});

test('every variable is read', () => {
  const config = loadConfig({
    NODE_ENV: 'production',
    PORT: '8080',
    HOST: '0.0.0.0',
    PUBLIC_URL: 'https://licenses.example.com',
    DATABASE_URL: 'postgresql://user:password@db.example.com/latchkey',
    REDIS_URL: 'rediss://cache.example.com:6380/1',
    REDIS_PREFIX: 'shop.',
    SERVICE_SECRET: secret,
    CRYPTO_ENFORCE: 'true',
    TURNSTILE_SECRET_KEY: 'turnstile',
    TURNSTILE_VERIFY_URL: 'http://127.0.0.1:9/verify',
    TRUST_PROXY: '2',
    COUNTRY_HEADER: 'CF-IPCountry',
    GEOIP_DB: '/var/lib/geoip.mmdb',
    CORS_ORIGINS: 'https://dash.example.com, http://localhost:3000',
    RATE_LIMITS: 'validate=600, session = 120',
    COUNT_LIMITS: 'apiKeys=7',
    LOG_RETENTION_DAYS: '30',
    LOG_BUFFER_SECONDS: '90',
    LOG_REPEATS: 'hourly',
    LOG_PARTITIONS: 'day',
    MIGRATE: 'check',
    WEBHOOK_ALLOW: '10.1.0.0/16, fd00::/8',
    EVENT_RETENTION_DAYS: '7',
    STALE_IF_DOWN_SECONDS: '0',
    SERVICE_SECRET_PREVIOUS: `${secret} before`,
    REGISTRATION: 'closed',
    METRICS_PORT: '9464',
    METRICS_HOST: '0.0.0.0',
    SHUTDOWN_SECONDS: '30',
    LOG_LEVEL: 'silent',
    WORKERS: '4',
  });
  expect(config).toEqual({
    production: true,
    port: 8080,
    host: '0.0.0.0',
    publicUrl: 'https://licenses.example.com',
    database: { kind: 'server', url: 'postgresql://user:password@db.example.com/latchkey' },
    redis: { kind: 'single', url: 'rediss://cache.example.com:6380/1' },
    redisPrefix: 'shop.',
    serviceSecret: secret,
    previousSecret: `${secret} before`,
    cryptoEnforce: true,
    registrationOpen: false,
    metrics: { host: '0.0.0.0', port: 9464 },
    shutdownSeconds: 30,
    turnstile: { secretKey: 'turnstile', verifyUrl: 'http://127.0.0.1:9/verify' },
    trustProxy: 2,
    countryHeader: 'CF-IPCountry',
    geoipDatabase: '/var/lib/geoip.mmdb',
    corsOrigins: ['https://dash.example.com', 'http://localhost:3000'],
    rateLimits: { ...rateLimitDefaults, validate: 600, session: 120 },
    countLimits: {
      applications: 1_000,
      apiKeys: 7,
      bans: 100_000,
      policies: 200,
      accountSessions: 100,
      webhooks: 20,
      sessions: 50,
    },
    logRetentionDays: 30,
    logBufferSeconds: 90,
    logRepeats: 'hourly',
    logPartitions: 'day',
    migrate: 'check',
    webhookAllow: [
      [{ octets: [10, 1, 0, 0] }, 16],
      [{ parts: [0xfd00, 0, 0, 0, 0, 0, 0, 0] }, 8],
    ],
    eventRetentionDays: 7,
    staleIfDownSeconds: 0,
    cachedLicenses: 50_000,
    logLevel: 'silent',
    workers: 4,
    databaseConnections: 10,
  });
});

test('the configuration is frozen deeply', () => {
  const config = loadConfig({ TURNSTILE_SECRET_KEY: 'key', CORS_ORIGINS: 'https://a.example' });
  for (const part of [config, config.rateLimits, config.corsOrigins, config.database, config.turnstile]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
});

test('CACHED_LICENSES limits the cache of a process, and is at least one', () => {
  expect(loadConfig({}).cachedLicenses).toBe(50_000);
  expect(loadConfig({ CACHED_LICENSES: '1000000' }).cachedLicenses).toBe(1_000_000);
  expect(problemsOf({ CACHED_LICENSES: '0' })).toEqual([
    'CACHED_LICENSES must be a whole number from 1 to 100000000',
  ]);
});

test('an empty variable counts as unset, an unknown one is ignored', () => {
  const empty = {
    PORT: '',
    HOST: '',
    DATABASE_URL: '',
    SERVICE_SECRET: '',
    CORS_ORIGINS: '',
    RATE_LIMITS: '',
  };
  expect(loadConfig({ ...empty, PATH: '/bin', SHELL: undefined })).toEqual(loadConfig({}));
});

test('the zone of a link-local HOST is not part of PUBLIC_URL', () => {
  expect(loadConfig({ HOST: 'fe80::1%eth0' })).toMatchObject({
    host: 'fe80::1%eth0',
    publicUrl: 'http://[fe80::1]:4000',
  });
});

describe('WORKERS', () => {
  const shared = { DATABASE_URL: 'postgres://a', REDIS_URL: 'redis://a', SERVICE_SECRET: secret };

  test('is 1 by default', () => {
    expect(loadConfig({ WORKERS: '1' })).toEqual(loadConfig({}));
  });

  test.each(['0', '65', 'auto', '-1', '1.5'])('%s is refused', (WORKERS) => {
    expect(problemsOf({ ...shared, WORKERS })).toEqual(['WORKERS must be a whole number from 1 to 64']);
  });

  test.each([
    [{ SERVICE_SECRET: secret }, 'DATABASE_URL and REDIS_URL'],
    [{ ...shared, REDIS_URL: '' }, 'REDIS_URL'],
    [{ ...shared, DATABASE_URL: '' }, 'DATABASE_URL'],
  ])('above 1 with %j alone is refused for want of %s', (env, wanting) => {
    expect(problemsOf({ ...env, WORKERS: '2' })).toEqual([
      `WORKERS above 1 requires ${wanting}: workers share state only through a PostgreSQL server and Redis`,
    ]);
    expect(problemsOf({ ...env, WORKERS: '1' })).toEqual([]);
  });

  test.each([
    ['1', 10],
    ['8', 10],
    ['9', 9],
    ['16', 4],
    ['30', 2],
    ['64', 2],
  ])('%s have pools of at most %i connections each', (WORKERS, connections) => {
    expect(loadConfig({ ...shared, WORKERS })).toMatchObject({
      workers: Number(WORKERS),
      databaseConnections: connections,
    });
  });

  test('up to 30 open 90 connections at most, and up to 32 as many as a server admits by default', () => {
    const opened = (workers: number) =>
      workers *
      (loadConfig({ ...shared, WORKERS: String(workers) }).databaseConnections + connectionsBesidePool);
    const counts = Array.from({ length: 64 }, (_, index) => index + 1);
    expect(counts.filter((workers) => opened(workers) <= 90)).toEqual(counts.slice(0, 30));
    // Of 100, three are reserved for superusers.
    expect(counts.filter((workers) => opened(workers) <= 97)).toEqual(counts.slice(0, 32));
  });
});

test('all invalid values are reported together, including conflicts between variables', () => {
  const bad = {
    NODE_ENV: 'production',
    PORT: 'x',
    HOST: 'example.com',
    PUBLIC_URL: 'ftp://a',
    DATABASE_URL: 'mysql://a',
    REDIS_URL: 'http://a',
    CRYPTO_ENFORCE: 'yes',
    TURNSTILE_VERIFY_URL: 'verify',
    TRUST_PROXY: '-1',
    CORS_ORIGINS: '*',
    RATE_LIMITS: 'speed=1,auth=many',
    LOG_RETENTION_DAYS: '0',
    EVENT_RETENTION_DAYS: '0',
    LOG_LEVEL: 'loud',
  };
  const problems = problemsOf(bad);
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
    'PORT',
    'HOST',
    'PUBLIC_URL',
    'DATABASE_URL',
    'REDIS_URL',
    'CRYPTO_ENFORCE',
    'TURNSTILE_VERIFY_URL',
    'TRUST_PROXY',
    'CORS_ORIGINS',
    'RATE_LIMITS',
    'RATE_LIMITS',
    'LOG_RETENTION_DAYS',
    'EVENT_RETENTION_DAYS',
    'LOG_LEVEL',
    'SERVICE_SECRET',
  ]);
  expect(() => loadConfig(bad)).toThrow(/^The configuration is invalid:\n {2}- PORT must be a whole number/);
});

test.each([
  ['PORT', ['0', '65535'], ['65536', '-1', '1.5', '80a', '1e3', ' 80']],
  ['HOST', ['127.0.0.1', '::', '::1', 'localhost'], ['example.com', '127.0.0.1:80', '[::1]', '256.1.1.1']],
  [
    'PUBLIC_URL',
    ['http://a', 'https://a.example/licenses'],
    [
      'a.example',
      'ftp://a',
      'https:a',
      ' https://a',
      'https://a\n',
      'https://a/?q',
      'https://a/#f',
      'https://user@a/',
      'https://a?',
    ],
  ],
  ['REDIS_PREFIX', ['a', 'Shop_1.eu-west:', 'x'.repeat(64)], ['a b', '*', '{a}', 'é', 'x'.repeat(65)]],
  [
    'REDIS_URL',
    [
      'redis://a',
      'rediss://:p@a:1/2',
      'redis+sentinel://a/name',
      'rediss+sentinel://u:p@a:1,b,[::1]:26379/name/15?sentinelUser=s&sentinelPassword=t',
      'redis+cluster://a,b:1',
      'rediss+cluster://:p@[fd00::1]/0',
    ],
    [
      'a:6379',
      'http://a',
      'redis:a',
      'redis://a b',
      'redis://a,b:1',
      'redis+other://a',
      'redis+sentinel://a',
      'redis+sentinel://a/',
      'redis+sentinel:///name',
      'redis+sentinel://a,/name',
      'redis+sentinel://a,a:26379/name',
      'redis+sentinel://a:0/name',
      'redis+sentinel://a:65536/name',
      'redis+sentinel://::1/name',
      'redis+sentinel://[::g]/name',
      'redis+sentinel://a/name/x',
      'redis+sentinel://a/name/1/2',
      'redis+sentinel://a/name?password=p',
      'redis+sentinel://a/name?sentinelUser=s',
      'redis+sentinel://u@a/name',
      'redis+sentinel://u:@a/name',
      'redis+sentinel://:%zz@a/name',
      'redis+sentinel://a/name#x',
      'redis+cluster://a/1',
      'redis+cluster://a?x=1',
    ],
  ],
  ['CRYPTO_ENFORCE', ['true', 'false'], ['TRUE', '1', 'no']],
  ['TURNSTILE_VERIFY_URL', ['https://a/verify?x=1'], ['a', 'file:///a']],
  ['TRUST_PROXY', ['0', '10'], ['11', 'true', '-1']],
  [
    'CORS_ORIGINS',
    ['https://a.example', 'https://a.example,http://[::1]:3000'],
    ['*', 'null', 'https://a.example/', 'a.example', 'https://A.example', 'https://a.example,', 'file://'],
  ],
  ['LOG_RETENTION_DAYS', ['1', '3650'], ['0', '3651', 'forever']],
  ['LOG_PARTITIONS', ['week', 'day'], ['Day', 'month', '7']],
  ['MIGRATE', ['auto'], ['AUTO', 'never', 'true']],
  ['EVENT_RETENTION_DAYS', ['1', '3650'], ['0', '3651', 'forever']],
  ['WEBHOOK_ALLOW', ['127.0.0.0/8', '10.0.0.0/8,fd00::/8'], ['10.0.0.1', '10/8', '10.0.0.0/33', 'localhost']],
  ['LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], ['INFO', 'verbose']],
  ['SERVICE_SECRET', [secret, 'ü'.repeat(16)], ['k'.repeat(31), 'ü'.repeat(15)]],
  [
    'RATE_LIMITS',
    ['auth=1', 'auth=999999999', ' , auth = 5 ,'],
    [
      'auth',
      'auth=0',
      'auth=-1',
      'auth=1.5',
      'auth=1000000000',
      'Auth=1',
      'constructor=1',
      '__proto__=1',
      'auth=1;session=2',
    ],
  ],
])('%s takes %j and refuses %j', (name, good, bad) => {
  for (const value of good) expect(problemsOf({ [name]: value }), value).toEqual([]);
  for (const value of bad) {
    expect(problemsOf({ [name]: value }), value).toEqual([expect.stringMatching(`^${name} `)]);
  }
});

test('MIGRATE=check requires a database server', () => {
  expect(problemsOf({ MIGRATE: 'check' })).toEqual([
    expect.stringContaining('MIGRATE=check requires DATABASE_URL'),
  ]);
  const server = { DATABASE_URL: 'postgresql://a/b', SERVICE_SECRET: secret };
  expect(loadConfig({ ...server, MIGRATE: 'check' }).migrate).toBe('check');
});

describe('DATABASE_URL', () => {
  test.each(['postgres://a/b', 'postgresql://u:p@a:1/b', 'postgresql:///b?host=/run/postgresql'])(
    '%s is a server',
    (url) => {
      expect(loadConfig({ DATABASE_URL: url, SERVICE_SECRET: secret }).database).toEqual({
        kind: 'server',
        url,
      });
    },
  );

  test.each(['mysql://a', 'a/b', 'postgresql:a'])('%s is refused', (url) => {
    expect(problemsOf({ DATABASE_URL: url, SERVICE_SECRET: secret })).toEqual([
      'DATABASE_URL must be a URL that starts with postgresql:// or postgres://',
    ]);
  });

  test('has priority over DATA_DIR', () => {
    const config = loadConfig({ DATABASE_URL: 'postgres://a', DATA_DIR: 'memory:', SERVICE_SECRET: secret });
    expect(config.database.kind).toBe('server');
  });
});

test('DATA_DIR names the embedded directory, or memory', () => {
  expect(loadConfig({ DATA_DIR: '/var/lib/latchkey' }).database).toEqual({
    kind: 'embedded',
    directory: '/var/lib/latchkey',
  });
  expect(loadConfig({ DATA_DIR: 'memory:' }).database).toEqual({ kind: 'memory' });
});

describe('the master secret', () => {
  test('is generated for an embedded database outside of production', () => {
    expect(problemsOf({})).toEqual([]);
  });

  test('is required in production', () => {
    expect(problemsOf({ NODE_ENV: 'production' })).toEqual([
      expect.stringMatching(/^SERVICE_SECRET must be set because NODE_ENV is production/),
    ]);
    expect(problemsOf({ NODE_ENV: 'production', SERVICE_SECRET: secret })).toEqual([]);
  });

  test('is required with a database server, whose instances share it', () => {
    expect(problemsOf({ DATABASE_URL: 'postgres://a' })).toEqual([
      expect.stringMatching(/^SERVICE_SECRET must be set because DATABASE_URL is set/),
    ]);
  });

  test('is never in an error, and neither is a password', () => {
    const env = {
      SERVICE_SECRET: 'short-secret',
      DATABASE_URL: 'mysql://u:pa55word@a',
      REDIS_URL: 'http://:pa55word@a',
    };
    expect(problemsOf(env)).toHaveLength(3);
    expect(problemsOf(env).join()).not.toMatch(/short-secret|pa55word/);
  });
});

test('unsealed client requests can be accepted, but not in production', () => {
  expect(problemsOf({ NODE_ENV: 'production', SERVICE_SECRET: secret, CRYPTO_ENFORCE: 'false' })).toEqual([
    expect.stringMatching(/^CRYPTO_ENFORCE must not be false in production/),
  ]);
  expect(loadConfig({ CRYPTO_ENFORCE: 'false' }).cryptoEnforce).toBe(false);
});

test('the bot challenge is checked at the default URL if its key is set', () => {
  expect(loadConfig({ TURNSTILE_VERIFY_URL: 'https://a/verify' }).turnstile).toBeNull();
  expect(loadConfig({ TURNSTILE_SECRET_KEY: 'key' }).turnstile).toEqual({
    secretKey: 'key',
    verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  });
});

describe('PUBLIC_URL', () => {
  test.each([
    ['https://a.example', 'https://a.example'],
    ['https://a.example/', 'https://a.example'],
    ['https://a.example/licenses//', 'https://a.example/licenses'],
    ['HTTPS://A.example', 'https://a.example'],
  ])('%s is kept as %s', (given, kept) => {
    expect(loadConfig({ PUBLIC_URL: given }).publicUrl).toBe(kept);
  });

  test.each([
    [{ HOST: '0.0.0.0', PORT: '80' }, 'http://0.0.0.0:80'],
    [{ HOST: 'localhost' }, 'http://localhost:4000'],
    [{ HOST: '::1', PORT: '8080' }, 'http://[::1]:8080'],
  ])('left out, with %j, is %s', (env, address) => {
    expect(loadConfig(env).publicUrl).toBe(address);
  });
});

describe('COUNT_LIMITS', () => {
  test('changes only the limits that it names', () => {
    expect(loadConfig({ COUNT_LIMITS: 'bans=7, sessions = 2' }).countLimits).toEqual({
      applications: 1_000,
      apiKeys: 100,
      bans: 7,
      policies: 200,
      accountSessions: 100,
      webhooks: 20,
      sessions: 2,
    });
  });

  test('reports every invalid part with the valid names', () => {
    expect(problemsOf({ COUNT_LIMITS: 'licenses=1,bans=0,apiKeys,bans=1,bans=2' })).toEqual([
      expect.stringMatching(
        /^COUNT_LIMITS has "licenses=1"; .* applications, apiKeys, bans, policies, accountSessions, webhooks, sessions/,
      ),
      expect.stringMatching(/^COUNT_LIMITS has "bans=0"; .* at least 1/),
      expect.stringMatching(/^COUNT_LIMITS has "apiKeys"; /),
      'COUNT_LIMITS has bans twice; write each name once',
    ]);
  });
});

describe('RATE_LIMITS', () => {
  test('changes only the limits that it names', () => {
    expect(loadConfig({ RATE_LIMITS: 'validate=600' }).rateLimits).toEqual({
      ...rateLimitDefaults,
      validate: 600,
    });
  });

  test('reports every invalid part with the valid names', () => {
    expect(problemsOf({ RATE_LIMITS: 'speed=1,auth=9,validate' })).toEqual([
      expect.stringMatching(/^RATE_LIMITS has "speed=1"; .* auth, session, validate, clientAuth/),
      expect.stringMatching(/^RATE_LIMITS has "validate"; /),
    ]);
  });

  test('accepts each name only once', () => {
    expect(problemsOf({ RATE_LIMITS: 'auth=1,auth=2' })).toEqual([
      'RATE_LIMITS has auth twice; write each name once',
    ]);
  });
});
