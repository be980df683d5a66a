import { expect, test } from 'vitest';
import { UsageError } from '../setup/command-line.ts';
import { parseOptions } from './options.ts';

const database = 'postgresql://postgres@127.0.0.1:5432/postgres';
const redis = 'redis://127.0.0.1:6379';

test('a run without options measures all requests on the embedded database', () => {
  expect(parseOptions([], {})).toEqual({
    secondsPerBlock: 2,
    blocks: 6,
    connections: 32,
    only: [],
    jsonFile: null,
    databaseUrl: null,
    redisUrl: null,
    scaleLogRows: null,
    workers: false,
    memoryMinutes: null,
  });
});

test('servers are those of the environment, unless an option names others', () => {
  const environment = { DATABASE_URL: database, REDIS_URL: redis };
  expect(parseOptions([], environment)).toMatchObject({ databaseUrl: database, redisUrl: redis });
  const others = ['--database-url', `${database}2`, '--redis-url', `${redis}/2`];
  expect(parseOptions(others, environment)).toMatchObject({
    databaseUrl: `${database}2`,
    redisUrl: `${redis}/2`,
  });
  expect(parseOptions([], { DATABASE_URL: '', REDIS_URL: '' })).toMatchObject({
    databaseUrl: null,
    redisUrl: null,
  });
});

test('further parts are measured when they are asked for', () => {
  const args = ['--scale', '--log-rows', '5000', '--workers', '--memory', '3'];
  expect(parseOptions(args, { DATABASE_URL: database, REDIS_URL: redis })).toMatchObject({
    scaleLogRows: 5000,
    workers: true,
    memoryMinutes: 3,
  });
  expect(parseOptions(['--scale'], { DATABASE_URL: database })).toMatchObject({ scaleLogRows: 10_000_000 });
});

test.each([
  [['--scale'], {}, '--scale needs --database-url'],
  [['--workers'], { DATABASE_URL: database }, '--workers needs --database-url and --redis-url'],
  [['--workers'], { REDIS_URL: redis }, '--workers needs --database-url and --redis-url'],
  [['--memory', '1'], {}, '--memory must be a whole number from 2 to 120'],
  [['--log-rows', 'many'], {}, '--log-rows must be a whole number from 1000 to 20000000'],
  [['--redis-url', 'http://secret@a'], {}, '--redis-url must be a URL that starts with redis:'],
])('%j with %j is refused', (args, environment, message) => {
  const parse = () => parseOptions(args, environment);
  expect(parse).toThrow(UsageError);
  expect(parse).toThrow(message);
  expect(parse).not.toThrow('secret');
});
