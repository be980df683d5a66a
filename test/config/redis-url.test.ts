import { expect, test } from 'vitest';
import { keyPrefixAt, nameOfRedis, parseRedisUrl } from '../../src/ephemeral/redis-address.ts';

test('the hosts, the name and the database are read from a list that no URL parser takes', () => {
  expect(parseRedisUrl('redis+sentinel://10.0.0.1,cache.example:5000,[fd00::1]:7/main')).toEqual({
    kind: 'sentinel',
    hosts: [
      { host: '10.0.0.1', port: 26_379 },
      { host: 'cache.example', port: 5000 },
      { host: 'fd00::1', port: 7 },
    ],
    name: 'main',
    database: 0,
    tls: false,
    credentials: null,
    sentinelCredentials: null,
  });
  expect(parseRedisUrl('rediss+sentinel://a/my%20main/3')).toMatchObject({
    name: 'my main',
    database: 3,
    tls: true,
  });
  expect(parseRedisUrl('REDISS+CLUSTER://a,b:7000')).toEqual({
    kind: 'cluster',
    hosts: [
      { host: 'a', port: 6379 },
      { host: 'b', port: 7000 },
    ],
    tls: true,
    credentials: null,
  });
  expect(parseRedisUrl('rediss://a/2')).toEqual({ kind: 'single', url: 'rediss://a/2' });
  // With the scheme as written, ioredis would connect without TLS.
  expect(parseRedisUrl('REDISS://A/2')).toEqual({ kind: 'single', url: 'rediss://A/2' });
});

test('sentinels have the credentials of Redis, or others, or none', () => {
  const both = (url: string) => {
    const address = parseRedisUrl(url);
    return address.kind === 'sentinel' ? [address.credentials, address.sentinelCredentials] : null;
  };
  const shared = { user: 'u', password: 'p@/:%' };
  const url = 'redis+sentinel://u:p%40%2f:%25@a/main';
  expect(both(url)).toEqual([shared, shared]);
  expect(both(`${url}?sentinelPassword=`)).toEqual([shared, null]);
  expect(both(`${url}?sentinelPassword=t%26`)).toEqual([shared, { user: null, password: 't&' }]);
  expect(both(`${url}?sentinelUser=s&sentinelPassword=t`)).toEqual([shared, { user: 's', password: 't' }]);
  expect(both('redis+sentinel://a/main?sentinelPassword=t')).toEqual([null, { user: null, password: 't' }]);
});

test.each([
  ['redis://somebody:pa55word@a/1', 'Redis at a:6379'],
  [
    'redis+sentinel://somebody:pa55word@a,[::1]:7/main?sentinelPassword=pa55word',
    'Redis "main" of the sentinels at a:26379, [::1]:7',
  ],
  ['redis+cluster://somebody:pa55word@a,b:1', 'Redis Cluster at a:6379, b:1'],
])('%s is named %s', (url, name) => {
  expect(nameOfRedis(parseRedisUrl(url))).toBe(name);
});

test('no error repeats a part of the URL', () => {
  for (const rest of ['a,:1/n', 'a/n?x=pa55word', 'a', 'a/n/x', 'a b/n']) {
    const parse = () => parseRedisUrl(`redis+sentinel://somebody:pa55word@${rest}`);
    expect(parse).toThrow(/^must /);
    expect(parse).not.toThrow(/pa55word|somebody/);
  }
});

test('in a cluster, the first part of every name is a hash tag', () => {
  expect(keyPrefixAt(parseRedisUrl('redis+cluster://a'), 'latchkey:4f0c:')).toBe('{latchkey:4f0c}:');
  expect(keyPrefixAt(parseRedisUrl('redis+sentinel://a/n'), 'latchkey:4f0c:')).toBe('latchkey:4f0c:');
});
