import { isIP } from 'node:net';
import { z } from 'zod';
import type { DatabaseAddress } from './db/address.ts';
import { type RateLimitName, rateLimitDefaults } from './ephemeral/rate-limits.ts';
import { type CountLimitName, countLimitDefaults } from './services/count-limits.ts';

/** Everything that the environment decides, parsed once and frozen. */
export interface Config {
  readonly production: boolean;
  readonly port: number;
  readonly host: string;
  /** `{base_url}` of the interface, without a slash at its end. */
  readonly publicUrl: string;
  readonly database: DatabaseAddress;
  readonly redisUrl: string | null;
  /** Starts the name of every key and channel in Redis. */
  readonly redisPrefix: string;
  /** The master secret as given; null when it is generated into the data directory. */
  readonly serviceSecret: string | null;
  /** The master secret before it was rotated; what it protects is honoured, and nothing new is made with it. */
  readonly previousSecret: string | null;
  readonly cryptoEnforce: boolean;
  /** Whether anybody may register as a developer; if not, an operator creates them at the command line. */
  readonly registrationOpen: boolean;
  /** Where Prometheus reads, apart from where the service is reached; null: nowhere. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** How long an end in order may take. */
  readonly shutdownSeconds: number;
  /** Null: the bot challenge is not checked. */
  readonly turnstile: { readonly secretKey: string; readonly verifyUrl: string } | null;
  /** How many reverse proxies stand in front of the service. */
  readonly trustProxy: number;
  /** Header in which a trusted proxy names the client's country. */
  readonly countryHeader: string | null;
  /** MMDB file to look a client's country up in. */
  readonly geoipDatabase: string | null;
  readonly corsOrigins: readonly string[];
  /** Requests a minute and client address, by name. */
  readonly rateLimits: Readonly<Record<RateLimitName, number>>;
  /** How many things one owner can have, by name. */
  readonly countLimits: Readonly<Record<CountLimitName, number>>;
  readonly logRetentionDays: number;
  /** How long validation goes on from what is cached while PostgreSQL is away; 0: not at all. */
  readonly staleIfDownSeconds: number;
  /** How many licenses each process keeps in memory. */
  readonly cachedLicenses: number;
  readonly logLevel: string;
  /** Processes that answer requests. With more than one, a supervisor starts them and answers none itself. */
  readonly workers: number;
  /** The most connections of one process's pool to a database server. */
  readonly databaseConnections: number;
}

/** What all workers together may open of PostgreSQL's 100 connections, its default. */
const sharedConnections = 90;
/** A process has one beside its pool: it asks whether the server is available, and what other instances changed. */
export const connectionsBesidePool = 1;
/** In a pool: more than 10 does not serve one process faster, and fewer than 2 wait for each other. */
const connectionsOfOne = { most: 10, least: 2 };

/** Names every bad value at once, each with what it should have been. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const integer = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`);

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

/** A base address has nothing after its path; in its normal spelling, so that `https:` can be told. */
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
  REDIS_URL: url('redis:', 'rediss:').optional(),
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
      'must be origins such as https://dash.example.com, with commas between',
    )
    .default([]),
  RATE_LIMITS: numbersByName(rateLimitDefaults, 'write name=requests, at least 1 a minute,'),
  COUNT_LIMITS: numbersByName(countLimitDefaults, 'write name=count, at least 1,'),
  LOG_RETENTION_DAYS: integer(1, 3650).default(90),
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

/** Every variable that the service reads. */
export const variableNames: readonly string[] = Object.keys(environment.shape);

/** A variable that sets some of these numbers: `name=number`, with commas between. */
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
            message: `has "${part.trim()}"; ${howTo} with a name of ${Object.keys(defaults).join(', ')}`,
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

/**
 * Reads the environment, the only place that does (design §4).
 * An empty variable counts as unset, as compose files and shells produce them.
 * @throws {ConfigError} naming every bad variable
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const set = setIn(env);
  const parsed = environment.safeParse(set);
  const problems = [...problemsOf(parsed.error), ...missing(set)];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);

  const value = parsed.data;
  return freeze({
    production: value.NODE_ENV === 'production',
    port: value.PORT,
    host: value.HOST,
    publicUrl: (value.PUBLIC_URL ?? `http://${hostOfUrl(value.HOST)}:${value.PORT}`).replace(/\/+$/, ''),
    database: databaseOf(value.DATABASE_URL, value.DATA_DIR),
    redisUrl: value.REDIS_URL ?? null,
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

/** Where the data is, and what protects it. */
export type DataConfig = Pick<Config, 'database' | 'serviceSecret' | 'previousSecret'>;

const dataEnvironment = environment.pick({
  DATA_DIR: true,
  DATABASE_URL: true,
  SERVICE_SECRET: true,
  SERVICE_SECRET_PREVIOUS: true,
});

/**
 * Reads from the environment what says where the data is, for what works on the data alone: it asks for no secret that
 * it does not need, and other variables may be as they are.
 * @throws {ConfigError} naming every bad variable
 */
export function loadDataConfig(env: Readonly<Record<string, string | undefined>>): DataConfig {
  const parsed = dataEnvironment.safeParse(setIn(env));
  if (!parsed.success) throw new ConfigError(problemsOf(parsed.error));
  const value = parsed.data;
  return freeze({
    database: databaseOf(value.DATABASE_URL, value.DATA_DIR),
    serviceSecret: value.SERVICE_SECRET ?? null,
    previousSecret: value.SERVICE_SECRET_PREVIOUS ?? null,
  });
}

const setIn = (env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));

const problemsOf = (error: z.ZodError | undefined): string[] =>
  (error?.issues ?? []).map((issue) => `${issue.path.join('.')} ${issue.message}`);

/** An even share of what all may open, within what one can use. */
const connectionsFor = (workers: number): number =>
  Math.max(
    connectionsOfOne.least,
    Math.min(connectionsOfOne.most, Math.floor(sharedConnections / workers) - connectionsBesidePool),
  );

/** An address as a URL has it: IPv6 in brackets, without a zone id, which no URL takes (WHATWG URL, "IPv6 parser"). */
const hostOfUrl = (host: string): string => (host.includes(':') ? `[${host.replace(/%.*$/, '')}]` : host);

/** What one variable asks of another. */
function missing(set: Readonly<Record<string, string | undefined>>): string[] {
  const production = set.NODE_ENV === 'production';
  const problems: string[] = [];
  if (set.SERVICE_SECRET === undefined && (production || set.DATABASE_URL !== undefined)) {
    const why = production ? 'NODE_ENV is production' : 'DATABASE_URL is set';
    problems.push(`SERVICE_SECRET must be set because ${why} (openssl rand -base64 32)`);
  }
  if (production && set.CRYPTO_ENFORCE === 'false') {
    problems.push('CRYPTO_ENFORCE must not be false in production: it admits unsealed client requests');
  }
  const unshared = (['DATABASE_URL', 'REDIS_URL'] as const).filter((name) => set[name] === undefined);
  if (Number(set.WORKERS) > 1 && unshared.length > 0) {
    problems.push(
      `WORKERS above 1 needs ${unshared.join(' and ')}: workers share a PostgreSQL server and a Redis, and nothing else`,
    );
  }
  return problems;
}

/** Freezes a value and everything in it. */
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
