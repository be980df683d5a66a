import { isIP } from 'node:net';
import { z } from 'zod';
import type { DatabaseAddress } from './db/address.ts';
import { type RateLimitName, rateLimitDefaults } from './ephemeral/rate-limits.ts';
import { parseRedisUrl, type RedisAddress, RedisUrlError } from './ephemeral/redis-address.ts';
import { type AddressRange, parseAddressRange } from './lib/public-address.ts';
import { type CountLimitName, countLimitDefaults } from './services/count-limits.ts';

/** The configuration: all environment variables, parsed once and frozen. */
export interface Config {
  readonly production: boolean;
  readonly port: number;
  readonly host: string;
  /** `{base_url}` of the interface, without a trailing slash. */
  readonly publicUrl: string;
  readonly database: DatabaseAddress;
  readonly redis: RedisAddress | null;
  /** The prefix of every key and channel in Redis. */
  readonly redisPrefix: string;
  /** The configured master secret; null if it is generated into the data directory. */
  readonly serviceSecret: string | null;
  /** The master secret before the last rotation. It still decrypts and verifies, but nothing new is protected with it. */
  readonly previousSecret: string | null;
  readonly cryptoEnforce: boolean;
  /** Whether anyone can register as a developer. If not, an operator creates accounts at the command line. */
  readonly registrationOpen: boolean;
  /** The address of the metrics endpoint for Prometheus; null to disable it. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** Graceful-shutdown timeout. */
  readonly shutdownSeconds: number;
  /** Null to disable the bot challenge. */
  readonly turnstile: { readonly secretKey: string; readonly verifyUrl: string } | null;
  /** The number of reverse proxies in front of the service. */
  readonly trustProxy: number;
  /** The header in which a trusted proxy sends the client's country. */
  readonly countryHeader: string | null;
  /** The MMDB file that maps client addresses to countries. */
  readonly geoipDatabase: string | null;
  readonly corsOrigins: readonly string[];
  /** Requests per minute and client address, by name. */
  readonly rateLimits: Readonly<Record<RateLimitName, number>>;
  /** The maximum number of items that one owner can have, by name. */
  readonly countLimits: Readonly<Record<CountLimitName, number>>;
  readonly logRetentionDays: number;
  /** How long entries of the security log wait in memory while the database is unavailable. */
  readonly logBufferSeconds: number;
  /** Whether the security log keeps every accepted validation, or one an hour of each license and device. */
  readonly logRepeats: 'all' | 'hourly';
  /** How long the entries of one partition of the security log span. */
  readonly logPartitions: 'week' | 'day';
  /** Whether the service changes the schema, or only checks that `latchkey migrate` has. */
  readonly migrate: 'auto' | 'check';
  /** Ranges of addresses that webhooks may be sent to although they are not public. */
  readonly webhookAllow: readonly AddressRange[];
  readonly eventRetentionDays: number;
  /** How long cached licenses are served while PostgreSQL is unavailable; 0 to refuse them. */
  readonly staleIfDownSeconds: number;
  /** The maximum number of licenses in each process's cache. */
  readonly cachedLicenses: number;
  readonly logLevel: string;
  /** The number of processes that serve requests. With more than one, a supervisor starts them and serves none itself. */
  readonly workers: number;
  /** The maximum size of one process's pool of connections to a database server. */
  readonly databaseConnections: number;
}

/** Connections of all workers together. PostgreSQL allows 100 by default. */
const sharedConnections = 90;
/** Connections of a process outside its pool: the watch, which reads changes and tells whether the server answers. */
export const connectionsBesidePool = 1;
/** The size of a pool. More than 10 connections do not speed a process up; a single one would serialize everything. */
const poolSize = { max: 10, min: 2 };

/** Lists every invalid variable with what it must be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration is invalid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

const url = (...schemes: string[]) =>
  z
    .string()
    .refine(
      (text) =>
        !/\s/.test(text) &&
        URL.canParse(text) &&
        schemes.some((scheme) => text.toLowerCase().startsWith(`${scheme}//`)),
      `must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    );

/** A base URL ends with its path. It is normalized, so that its scheme can be compared. */
const baseUrl = url('http:', 'https:')
  .refine((text) => {
    if (!URL.canParse(text)) return true;
    const { search, hash, username, password } = new URL(text);
    return `${search}${hash}${username}${password}` === '' && !/[?#]$/.test(text);
  }, 'must have no query, fragment or credentials')
  .transform((text) => (URL.canParse(text) ? new URL(text).href : text));

const origin = (text: string) => URL.canParse(text) && new URL(text).origin === text;
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const host = z
  .string()
  .refine((text) => text === 'localhost' || isIP(text) !== 0, 'must be an IP address or localhost');

const masterSecret = z
  .string()
  .refine((secret) => Buffer.byteLength(secret) >= 32, 'must be at least 32 bytes (openssl rand -base64 32)');

const environment = z.object({
  NODE_ENV: z.string().optional(),
  PORT: integer(0, 65_535).default(4000),
  HOST: host.default('127.0.0.1'),
  PUBLIC_URL: baseUrl.optional(),
  DATA_DIR: z.string().default('./data'),
  DATABASE_URL: url('postgresql:', 'postgres:').optional(),
  REDIS_URL: z.string().transform(redisAddress).optional(),
  REDIS_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9:._-]{1,64}$/, 'must be 1 to 64 letters, digits and characters of : . _ -')
    .default('latchkey:'),
  SERVICE_SECRET: masterSecret.optional(),
  CRYPTO_ENFORCE: z.enum(['true', 'false'], 'must be true or false').default('true'),
  TURNSTILE_SECRET_KEY: z.string().optional(),
  TURNSTILE_VERIFY_URL: url('http:', 'https:').default(
    'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  ),
  TRUST_PROXY: integer(0, 10).default(0),
  COUNTRY_HEADER: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header field')
    .optional(),
  GEOIP_DB: z.string().optional(),
  CORS_ORIGINS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine(
      (origins) => origins.every(origin),
      'must be a comma-separated list of origins such as https://dash.example.com',
    )
    .default([]),
  RATE_LIMITS: numbersByName(rateLimitDefaults, 'write name=requests, at least 1 a minute,'),
  COUNT_LIMITS: numbersByName(countLimitDefaults, 'write name=count, at least 1,'),
  LOG_RETENTION_DAYS: integer(1, 3650).default(90),
  LOG_BUFFER_SECONDS: integer(1, 3600).default(60),
  LOG_REPEATS: z.enum(['all', 'hourly'], 'must be all or hourly').default('all'),
  LOG_PARTITIONS: z.enum(['week', 'day'], 'must be week or day').default('week'),
  MIGRATE: z.enum(['auto', 'check'], 'must be auto or check').default('auto'),
  WEBHOOK_ALLOW: z.string().default('').transform(addressRanges),
  EVENT_RETENTION_DAYS: integer(1, 3650).default(30),
  STALE_IF_DOWN_SECONDS: integer(0, 86_400).default(600),
  CACHED_LICENSES: integer(1, 100_000_000).default(50_000),
  WORKERS: integer(1, 64).default(1),
  SERVICE_SECRET_PREVIOUS: masterSecret.optional(),
  REGISTRATION: z.enum(['open', 'closed'], 'must be open or closed').default('open'),
  METRICS_PORT: integer(0, 65_535).optional(),
  METRICS_HOST: host.default('127.0.0.1'),
  SHUTDOWN_SECONDS: integer(1, 300).default(5),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
});

/** The names of all variables that the service reads. */
export const variableNames: readonly string[] = Object.keys(environment.shape);

/** Parses a comma-separated list of `name=number` that overrides some of the defaults. */
function numbersByName<Name extends string>(defaults: Readonly<Record<Name, number>>, howTo: string) {
  return z
    .string()
    .default('')
    .transform((text, context): Record<Name, number> => {
      const numbers = new Map<string, number>();
      for (const part of text.split(',').filter((piece) => piece.trim() !== '')) {
        const match = /^\s*([A-Za-z]+)\s*=\s*([1-9]\d{0,8})\s*$/.exec(part);
        const [, name, value] = match ?? [];
        if (name === undefined || !Object.hasOwn(defaults, name)) {
          context.addIssue({
            code: 'custom',
            message: `has "${part.trim()}"; ${howTo} where name is one of ${Object.keys(defaults).join(', ')}`,
          });
        } else if (numbers.has(name)) {
          context.addIssue({ code: 'custom', message: `has ${name} twice; write each name once` });
        } else {
          numbers.set(name, Number(value));
        }
      }
      return { ...defaults, ...Object.fromEntries(numbers) };
    });
}

function redisAddress(text: string, context: z.RefinementCtx): RedisAddress {
  try {
    return parseRedisUrl(text);
  } catch (error) {
    if (!(error instanceof RedisUrlError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
    return z.NEVER;
  }
}

/** Parses a comma-separated list of ranges of addresses. */
function addressRanges(text: string, context: z.RefinementCtx): AddressRange[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.flatMap((part) => {
    if (part === '') return [];
    const range = parseAddressRange(part);
    if (range !== null) return [range];
    context.addIssue({
      code: 'custom',
      message: `has "${part}"; write ranges such as 127.0.0.0/8 or fd00::/8`,
    });
    return [];
  });
}

/**
 * Reads the configuration from the environment. No other code reads the environment (design §4). An empty variable counts
 * as unset, because compose files and shells often set empty ones.
 * @throws {ConfigError} listing every invalid variable
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const set = setIn(env);
  const parsed = environment.safeParse(set);
  const problems = [...problemsOf(parsed.error), ...conflicts(set)];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);

  const value = parsed.data;
  return freeze({
    production: value.NODE_ENV === 'production',
    port: value.PORT,
    host: value.HOST,
    publicUrl: (value.PUBLIC_URL ?? `http://${hostOfUrl(value.HOST)}:${value.PORT}`).replace(/\/+$/, ''),
    database: databaseOf(value.DATABASE_URL, value.DATA_DIR),
    redis: value.REDIS_URL ?? null,
    redisPrefix: value.REDIS_PREFIX,
    serviceSecret: value.SERVICE_SECRET ?? null,
    cryptoEnforce: value.CRYPTO_ENFORCE === 'true',
    turnstile:
      value.TURNSTILE_SECRET_KEY === undefined
        ? null
        : { secretKey: value.TURNSTILE_SECRET_KEY, verifyUrl: value.TURNSTILE_VERIFY_URL },
    trustProxy: value.TRUST_PROXY,
    countryHeader: value.COUNTRY_HEADER ?? null,
    geoipDatabase: value.GEOIP_DB ?? null,
    corsOrigins: value.CORS_ORIGINS,
    rateLimits: value.RATE_LIMITS,
    countLimits: value.COUNT_LIMITS,
    logRetentionDays: value.LOG_RETENTION_DAYS,
    logBufferSeconds: value.LOG_BUFFER_SECONDS,
    logRepeats: value.LOG_REPEATS,
    logPartitions: value.LOG_PARTITIONS,
    migrate: value.MIGRATE,
    webhookAllow: value.WEBHOOK_ALLOW,
    eventRetentionDays: value.EVENT_RETENTION_DAYS,
    staleIfDownSeconds: value.STALE_IF_DOWN_SECONDS,
    cachedLicenses: value.CACHED_LICENSES,
    logLevel: value.LOG_LEVEL,
    previousSecret: value.SERVICE_SECRET_PREVIOUS ?? null,
    registrationOpen: value.REGISTRATION === 'open',
    metrics: value.METRICS_PORT === undefined ? null : { host: value.METRICS_HOST, port: value.METRICS_PORT },
    shutdownSeconds: value.SHUTDOWN_SECONDS,
    workers: value.WORKERS,
    databaseConnections: connectionsFor(value.WORKERS),
  });
}

/** The location of the data, the secrets that protect it, and how its log is kept. */
export type DataConfig = Pick<
  Config,
  'database' | 'serviceSecret' | 'previousSecret' | 'logPartitions' | 'migrate'
> & {
  /** Null if LOG_RETENTION_DAYS is unset: a command must not delete by a default that the service may not have. */
  readonly logRetentionDays: number | null;
};

const dataEnvironment = environment.pick({
  DATA_DIR: true,
  DATABASE_URL: true,
  SERVICE_SECRET: true,
  SERVICE_SECRET_PREVIOUS: true,
  LOG_RETENTION_DAYS: true,
  LOG_PARTITIONS: true,
  MIGRATE: true,
});

/**
 * Reads only the variables about the data, for commands: other variables may be invalid, and SERVICE_SECRET may be unset.
 * @throws {ConfigError} listing every invalid variable among these
 */
export function loadDataConfig(env: Readonly<Record<string, string | undefined>>): DataConfig {
  const set = setIn(env);
  const parsed = dataEnvironment.safeParse(set);
  if (!parsed.success) throw new ConfigError(problemsOf(parsed.error));
  const value = parsed.data;
  return freeze({
    database: databaseOf(value.DATABASE_URL, value.DATA_DIR),
    serviceSecret: value.SERVICE_SECRET ?? null,
    previousSecret: value.SERVICE_SECRET_PREVIOUS ?? null,
    logRetentionDays: set.LOG_RETENTION_DAYS === undefined ? null : value.LOG_RETENTION_DAYS,
    logPartitions: value.LOG_PARTITIONS,
    migrate: value.MIGRATE,
  });
}

const setIn = (env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));

const problemsOf = (error: z.ZodError | undefined): string[] =>
  (error?.issues ?? []).map((issue) => `${issue.path.join('.')} ${issue.message}`);

/** The pool size of each worker: an equal share of `sharedConnections`, within the limits of `poolSize`. */
const connectionsFor = (workers: number): number =>
  Math.max(
    poolSize.min,
    Math.min(poolSize.max, Math.floor(sharedConnections / workers) - connectionsBesidePool),
  );

/** A host as in a URL: IPv6 in brackets, without a zone id, which URLs do not support (WHATWG URL, "IPv6 parser"). */
const hostOfUrl = (host: string): string => (host.includes(':') ? `[${host.replace(/%.*$/, '')}]` : host);

/** Finds variables that are required or not allowed because of others. */
function conflicts(set: Readonly<Record<string, string | undefined>>): string[] {
  const production = set.NODE_ENV === 'production';
  const problems: string[] = [];
  if (set.SERVICE_SECRET === undefined && (production || set.DATABASE_URL !== undefined)) {
    const why = production ? 'NODE_ENV is production' : 'DATABASE_URL is set';
    problems.push(`SERVICE_SECRET must be set because ${why} (openssl rand -base64 32)`);
  }
  if (production && set.CRYPTO_ENFORCE === 'false') {
    problems.push('CRYPTO_ENFORCE must not be false in production: it accepts unsealed client requests');
  }
  if (set.MIGRATE === 'check' && set.DATABASE_URL === undefined) {
    problems.push('MIGRATE=check requires DATABASE_URL: an embedded database has one user, its service');
  }
  const unshared = (['DATABASE_URL', 'REDIS_URL'] as const).filter((name) => set[name] === undefined);
  if (Number(set.WORKERS) > 1 && unshared.length > 0) {
    problems.push(
      `WORKERS above 1 requires ${unshared.join(' and ')}: workers share state only through a PostgreSQL server and Redis`,
    );
  }
  return problems;
}

/** Freezes a value deeply. */
function freeze<Value extends object>(value: Value): Readonly<Value> {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null) freeze(part);
  }
  return Object.freeze(value);
}

function databaseOf(url: string | undefined, directory: string): DatabaseAddress {
  if (url !== undefined) return { kind: 'server', url };
  if (directory === 'memory:') return { kind: 'memory' };
  return { kind: 'embedded', directory };
}
