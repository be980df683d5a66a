import { expect, test } from 'vitest';
import { unknownVariables } from '../../src/unknown-variables.ts';

const namesIn = (...names: string[]) =>
  unknownVariables(Object.fromEntries(names.map((name) => [name, 'x']))).map((said) =>
    said.replace(/^(\S+) is not a Latchkey variable\. Did you mean (\S+)\?$/, '$1 -> $2'),
  );

test.each([
  ['LOG_LEVL', 'LOG_LEVEL'],
  ['PORTT', 'PORT'],
  ['NODE_EVN', 'NODE_ENV'],
  ['REDIS_URI', 'REDIS_URL'],
  ['RATE_LIMIT', 'RATE_LIMITS'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['log_level', 'LOG_LEVEL'],
  ['LOG_RETENTION', 'LOG_RETENTION_DAYS'],
  ['TURNSTILE_SECRET', 'TURNSTILE_SECRET_KEY'],
  ['METRICS_ADDRESS', 'METRICS_PORT'],
  ['SERVICE_SECRET_OLD', 'SERVICE_SECRET'],
  ['LATCHKEY_DATABASE_URL', 'DATABASE_URL'],
])('%s is named, with %s as what may be meant', (name, meant) => {
  expect(namesIn(name)).toEqual([`${name} -> ${meant}`]);
});

test('variables of the service, the system and other programs are not reported', () => {
  const own = ['PORT', 'LOG_LEVEL', 'SERVICE_SECRET_PREVIOUS', 'NODE_ENV'];
  const system = [
    'PATH',
    'HOME',
    'HOSTNAME',
    'USER',
    'LANG',
    'TERM',
    'PWD',
    'SHLVL',
    'TZ',
    'NODE_OPTIONS',
    'NODE_VERSION',
  ];
  const others = [
    'npm_config_cache',
    'REDIS_PASSWORD',
    'DATABASE_NAME',
    'LOG_FORMAT',
    'POSTGRES_USER',
    'SERVICE_NAME',
  ];
  const kubernetes = [
    'REDIS_SERVICE_HOST',
    'LATCHKEY_SERVICE_PORT',
    'LATCHKEY_PORT',
    'REDIS_PORT_6379_TCP_ADDR',
  ];
  expect(namesIn(...own, ...system, ...others, ...kubernetes)).toEqual([]);
});

test('an empty variable counts as unset', () => {
  expect(unknownVariables({ LOG_LEVL: '' })).toEqual([]);
});
