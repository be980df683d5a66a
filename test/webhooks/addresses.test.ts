import { describe, expect, test } from 'vitest';
import { type AddressRange, isPublicAddress, parseAddressRange } from '../../src/lib/public-address.ts';
import { findAddresses } from '../../src/services/webhook/resolve.ts';
import { refusalOfUrl } from '../../src/services/webhook/url.ts';

/** Addresses that lead into the service's own network, or nowhere. */
const insideAddresses = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::808:808',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
];

test.each(insideAddresses)('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '172.15.255.255', '100.128.0.1', '192.167.1.1', '11.0.0.1'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each(['2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001:80e::200e'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each(['', 'localhost', '127.1', '0x7f.0.0.1', '2130706433', '8.8.8.8.', ' 8.8.8.8', '8.8.8.8/32'])(
  '"%s" is no address, and not public',
  (text) => {
    expect(isPublicAddress(text)).toBe(false);
  },
);

const hostileUrls = [
  '',
  'example.com',
  '//example.com/hook',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'data:text/plain,x',
  'javascript:alert(1)',
  'unix:/var/run/docker.sock',
  'http://example.com/hook',
  'HTTP://EXAMPLE.COM/',
  'https://user@example.com/',
  'https://user:password@example.com/',
  'https://:password@example.com/',
  'https://example.com@127.0.0.1/',
  'https://example.com/#fragment',
  'https://example.com/#',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://0/',
  'https://2130706433/',
  'https://017700000001/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.01/',
  'https://127.0.0.1./',
  'https://①②⑦.⓪.⓪.①/',
  'https://127%2e0%2e0%2e1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[0:0:0:0:0:ffff:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[::127.0.0.1]/',
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://foo.localhost/',
  'https://10.0.0.1:8443/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://168.63.129.16/machine',
  'http://127.0.0.1:6379/',
  'http://localhost:4000/',
  'https://example.com\\@127.0.0.1/',
  'https://exam\tple.com/',
  'https://example.com/\r\nX-Injected: 1',
  ' https://example.com/',
  'https://example.com/ ',
  'https://example.com/\0',
  'https://',
  'https://:443/',
  'https://example.com:99999/',
];

describe('without WEBHOOK_ALLOW', () => {
  test.each(hostileUrls)('%j is refused as a URL', (url) => {
    expect(refusalOfUrl(url, [])).toMatch(/^must /);
  });

  test.each([
    'https://example.com/hook',
    'https://example.com:8443/hook?token=abc',
    'https://1.1.1.1/',
    'https://[2606:4700:4700::1111]/',
    'https://bücher.example/',
  ])('%j is accepted', (url) => {
    expect(refusalOfUrl(url, [])).toBeNull();
  });
});

const allow = (...texts: string[]): AddressRange[] =>
  texts.map((text) => {
    const range = parseAddressRange(text);
    if (range === null) throw new Error(`${text} is no range`);
    return range;
  });

describe('with WEBHOOK_ALLOW=127.0.0.0/8', () => {
  const allowed = allow('127.0.0.0/8');

  test.each(['http://127.0.0.1:9000/', 'http://localhost:9000/', 'https://127.0.0.1/', 'http://127.1:80/'])(
    '%j is accepted',
    (url) => {
      expect(refusalOfUrl(url, allowed)).toBeNull();
    },
  );

  test.each(['http://example.com/', 'http://[::1]/', 'http://[::ffff:127.0.0.1]/', 'https://10.0.0.1/'])(
    '%j is refused',
    (url) => {
      expect(refusalOfUrl(url, allowed)).toMatch(/^must /);
    },
  );
});

test('http is only for loopback, whatever else is allowed', () => {
  expect(refusalOfUrl('http://10.0.0.1/', allow('10.0.0.0/8'))).toBe('must begin with https://');
  expect(refusalOfUrl('https://10.0.0.1/', allow('10.0.0.0/8'))).toBeNull();
  expect(refusalOfUrl('https://[fd00::1]/', allow('fd00::/8'))).toBeNull();
});

test.each(['', '127.0.0.1', '127.0.0.1/33', '127.1/8', 'localhost/8', '::1', '::1/129', '10.0.0.0/8 '])(
  '"%s" is no range of addresses',
  (text) => {
    expect(parseAddressRange(text)).toBeNull();
  },
);

describe('a name', () => {
  const { signal } = new AbortController();
  const find = (addresses: string[], allowed: AddressRange[] = []) =>
    findAddresses('example.com', allowed, async () => addresses, signal);

  test('with only public addresses may be used with all of them', async () => {
    expect(await find(['1.1.1.1', '2606:4700:4700::1111'])).toEqual(['1.1.1.1', '2606:4700:4700::1111']);
  });

  test.each(insideAddresses)('with a public address and %s may not be used at all', async (address) => {
    expect(await find(['1.1.1.1', address])).toBeNull();
    expect(await find([address, '1.1.1.1'])).toBeNull();
  });

  test('without addresses may not be used', async () => {
    expect(await find([])).toBeNull();
  });

  test('with an address that the operator allows may be used', async () => {
    expect(await find(['10.1.2.3', '1.1.1.1'], allow('10.0.0.0/8'))).toEqual(['10.1.2.3', '1.1.1.1']);
    expect(await find(['::ffff:10.1.2.3'], allow('10.0.0.0/8'))).toBeNull();
  });
});
