import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { apiKeyTokenHash, createApiKeyToken } from '../../src/crypto/api-key-token.ts';
import { readCookieToken, signCookieToken } from '../../src/crypto/cookie-token.ts';
import { createKeyring } from '../../src/crypto/keyring.ts';
import { createTicketSealer } from '../../src/crypto/session-ticket.ts';
import { rateLimitDefaults } from '../../src/ephemeral/rate-limits.ts';
import { admits } from '../../src/graphql/accept.ts';
import { type ApplicationId, type DeveloperId, isId, newId, timeOfId } from '../../src/lib/ids.ts';
import { canonicalIp, parseForwardedAddress, rateLimitKey } from '../../src/lib/ip.ts';
import { findExcess } from '../../src/lib/json-limits.ts';
import { canonicalJson } from '../../src/protocol/canonical-json.ts';
import { openEnvelope, parseEnvelope, sealEnvelope } from '../../src/protocol/envelope.ts';
import {
  innerRegisterRequest,
  innerValidateRequest,
  sealedRequest,
  sessionInitRequest,
} from '../../src/protocol/messages.ts';
import { verifySignatureB64 } from '../../src/protocol/signature.ts';
import { parseStrictJson } from '../../src/rest/strict-json.ts';
import { licenseMask, mintKeys } from '../../src/services/license/mask.ts';
import { cursor, encodeCursor } from '../../src/services/page.ts';
import { damaged, fuzz, fuzzTimeout, hostileText, hostileValue } from './fuzz.ts';

const noon = Date.parse('2026-03-01T12:00:00Z');
const clock = { now: () => noon };
const keyring = createKeyring(new Uint8Array(32).fill(1));
const check = <Inputs>(runs: number, property: fc.IProperty<Inputs>): void => fc.assert(property, fuzz(runs));

test('strict JSON parses JSON in UTF-8 and throws for everything else', { timeout: fuzzTimeout }, () => {
  const text = fc.jsonValue().map((value) => JSON.stringify(value));
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    text.chain(damaged),
    text.map((t) => Buffer.from(t)),
  );
  return check(
    300,
    fc.property(bytes, (body) => {
      const copy = new Uint8Array(body);
      const isUtf8 = Buffer.from(Buffer.from(copy).toString('utf8')).equals(copy);
      let read: unknown;
      try {
        read = parseStrictJson(copy.buffer);
      } catch (error) {
        expect(error instanceof SyntaxError || error instanceof TypeError).toBe(true);
        return;
      }
      expect(isUtf8).toBe(true);
      expect(read).toEqual(JSON.parse(Buffer.from(copy).toString('utf8')));
    }),
  );
});

test('the size of a JSON text is never underestimated', { timeout: fuzzTimeout }, () => {
  const count = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 1;
    return 1 + Object.values(value).reduce((sum: number, item) => sum + count(item), 0);
  };
  const most = fc.integer({ min: 1, max: 30 });
  const longest = (value: unknown): number => {
    if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value)) - 2;
    if (typeof value !== 'object' || value === null) return 0;
    return Math.max(
      0,
      ...Object.entries(value).map(([name, item]) => Math.max(longest(name), longest(item))),
    );
  };
  return check(
    1000,
    fc.property(fc.jsonValue({ maxDepth: 5 }), most, most, (value, values, text) => {
      const read: unknown = JSON.parse(JSON.stringify(value));
      const bytes = Buffer.from(JSON.stringify(read));
      const excess = findExcess(bytes, { values, text });
      if (count(read) > values || longest(read) > text) {
        // A text shorter than both limits together cannot exceed them.
        if (bytes.length > Math.min(values, text)) expect(excess).not.toBeNull();
      }
    }),
  );
});

test('canonical JSON serializes everything that strict JSON parses, or throws', () =>
  check(
    1000,
    fc.property(hostileValue, (value) => {
      const read = JSON.parse(JSON.stringify(value) ?? 'null');
      let text: string;
      try {
        text = canonicalJson(read);
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
        return;
      }
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
  ));

const envelopeText = fc.oneof(hostileText, fc.base64String({ maxLength: 60 }));

test('an envelope of any texts can be opened or not, without an exception', () => {
  const key = new Uint8Array(32).fill(3);
  const good = sealEnvelope(key, new TextEncoder().encode('{"a":1}'));
  return check(
    1000,
    fc.property(fc.constantFrom('ivB64', 'ciphertextB64', 'tagB64'), envelopeText, (part, text) => {
      const envelope = { ...good, [part]: text };
      fc.pre(good[part as keyof typeof good] !== text);
      parseEnvelope(envelope);
      expect(openEnvelope(key, envelope)).toBeNull();
    }),
  );
});

test('protocol messages are parsed or refused without an exception', () =>
  check(
    1000,
    fc.property(hostileValue, hostileValue, envelopeText, (one, two, text) => {
      const shaped = {
        ...{
          sessionId: text,
          ivB64: one,
          ciphertextB64: text,
          tagB64: two,
          appId: one,
          clientNonceB64: text,
        },
        ...{
          clientVersion: two,
          nonce: text,
          timestamp: one,
          v: two,
          licenseKey: one,
          hwid: two,
          username: text,
        },
        ...{ password: one, email: two, echoNonce: one },
      };
      for (const schema of [sealedRequest, sessionInitRequest, innerValidateRequest, innerRegisterRequest]) {
        schema.safeParse(shaped);
        schema.safeParse(one);
      }
      expect(verifySignatureB64(text, text, new Uint8Array(32))).toBe(false);
    }),
  ));

test('only a sealed session ticket can be opened', () => {
  const options = { ticketSecret: new Uint8Array(32).fill(7), clock, replayEpoch: () => 'epoch' };
  const tickets = createTicketSealer(options);
  const session = {
    applicationId: newId() as ApplicationId,
    clientVersion: '1',
    sessionKey: new Uint8Array(32),
  };
  const sealed = tickets.seal(session);
  expect(tickets.open(sealed)).not.toBeNull();
  return check(
    500,
    fc.property(
      fc.oneof(
        hostileText,
        damaged(sealed).map((bytes) => bytes.toString('latin1')),
      ),
      (text) => {
        fc.pre(text !== sealed);
        expect(tickets.open(text)).toBeNull();
      },
    ),
  );
});

test('only a signed cookie is accepted', { timeout: fuzzTimeout }, async () => {
  const token = await signCookieToken(keyring, clock, {
    developerId: newId() as DeveloperId,
    sessionVersion: 1,
    sessionId: null,
  });
  expect(await readCookieToken(keyring, clock, token)).not.toBeNull();
  const changed = damaged(token).map((bytes) => bytes.toString('latin1'));
  // The last character of the signature has unused bits; the token's hash ignores them.
  const isSame = (text: string) => text.length === token.length && text.startsWith(token.slice(0, -1));
  const spaced = fc
    .constantFrom(' ', '\t', '\n', '=')
    .chain((space) => fc.nat(token.length).map((at) => token.slice(0, at) + space + token.slice(at)));
  await fc.assert(
    fc.asyncProperty(fc.oneof(hostileText, changed, spaced), async (text) => {
      fc.pre(!isSame(text));
      expect(await readCookieToken(keyring, clock, text)).toBeNull();
    }),
    fuzz(300),
  );
});

test('a bearer token is looked up by 32 bytes or not at all', () => {
  const { token, keyHash } = createApiKeyToken();
  expect(apiKeyTokenHash(token)).toEqual(keyHash);
  return check(
    1000,
    fc.property(
      fc.oneof(
        hostileText,
        damaged(token).map((bytes) => bytes.toString('latin1')),
      ),
      (text) => {
        const hash = apiKeyTokenHash(text);
        expect(hash === null || (hash.length === 32 && /^service_live_[\w-]{43}$/.test(text))).toBe(true);
        if (text !== token && hash !== null) expect(hash).not.toEqual(keyHash);
      },
    ),
  );
});

test('a cursor is the only encoding of its id, and other texts are not cursors', () => {
  const good = encodeCursor(newId());
  return check(
    1000,
    fc.property(
      fc.oneof(
        hostileText,
        damaged(good).map((bytes) => bytes.toString('latin1')),
      ),
      (text) => {
        const { data } = cursor.safeParse(text);
        if (data === undefined) return;
        expect(isId(data)).toBe(true);
        expect(encodeCursor(data)).toBe(text);
      },
    ),
  );
});

test('an id has one spelling, and its time is a number', () => {
  const good = newId();
  return check(
    1000,
    fc.property(
      fc.oneof(
        hostileText,
        damaged(good).map((bytes) => bytes.toString('latin1')),
      ),
      (text) => {
        if (!isId(text)) return;
        expect(text).toBe(text.toLowerCase());
        expect(text).toHaveLength(36);
        expect(Number.isSafeInteger(timeOfId(text))).toBe(true);
      },
    ),
  );
});

test('a mask generates keys that match it, or is refused', () => {
  const unit = fc.constantFrom(...'XXXXXXx-_ ~!\0é💥$&\\');
  const masks = fc.oneof(
    hostileText,
    fc.array(unit, { maxLength: 140 }).map((units) => units.join('')),
  );
  return check(
    1000,
    fc.property(masks, (mask) => {
      if (!licenseMask.safeParse(mask).success) return;
      const [key = ''] = mintKeys(mask, 1);
      expect(key).toHaveLength(mask.length);
      [...mask].forEach((letter, index) => {
        if (letter === 'X') expect(key.charAt(index)).toMatch(/^[2-9A-HJ-NP-Z]$/);
        else expect(key.charAt(index)).toBe(letter);
      });
    }),
  );
});

test('a forwarded address is parsed to its canonical form or refused', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV4Extended(), fc.ipV6());
  const written = fc.oneof(
    address,
    address.map((ip) => `[${ip}]`),
    fc.tuple(address, fc.nat(99_999)).map(([ip, port]) => `${ip}:${port}`),
    fc.tuple(address, fc.nat(99_999)).map(([ip, port]) => `[${ip}]:${port}`),
    fc.ipV6().map((ip) => `${ip}%eth0`),
    address.chain(damaged).map((bytes) => bytes.toString('latin1')),
    hostileText,
  );
  return check(
    2000,
    fc.property(written, (text) => {
      const ip = parseForwardedAddress(text);
      if (ip === null) return;
      expect(isIP(ip)).toBeGreaterThan(0);
      expect(canonicalIp(ip)).toBe(ip);
      expect(parseForwardedAddress(ip)).toBe(ip);
      expect(rateLimitKey(ip)).toMatch(/^(\d+\.\d+\.\d+\.\d+|[0-9a-f:]+::\/64)$/);
    }),
  );
});

test('any text in Accept is handled without an exception', () => {
  const served = ['application/json'];
  const part = fc.constantFrom(
    'application',
    '/',
    '*',
    'json',
    ';',
    'q=0',
    ',',
    ' ',
    'charset=',
    '"',
    'utf-8',
  );
  return check(
    1000,
    fc.property(
      fc.oneof(
        hostileText,
        fc.array(part).map((parts) => parts.join('')),
      ),
      (text) => {
        expect(typeof admits(text, served)).toBe('boolean');
      },
    ),
  );
});

test('a configuration is loaded or refused with messages that contain no secret', () => {
  const secret = 'a master secret of enough bytes for it';
  const password = 'hunter2hunter2';
  const numbers = fc.constantFrom('0', '1', '-1', '99999', '1e3', '0x10', ' 5 ', '4000', '');
  const limit = fc.tuple(
    fc.constantFrom(...Object.keys(rateLimitDefaults), 'nope', ''),
    fc.constantFrom('=', ':', ''),
    numbers,
  );
  const value = fc.oneof(
    hostileText,
    numbers,
    fc.webUrl(),
    fc.constantFrom('true', 'false', 'open', 'closed', 'memory:'),
  );
  const variables = [
    ...['NODE_ENV', 'PORT', 'HOST', 'PUBLIC_URL', 'DATA_DIR', 'REDIS_URL', 'CRYPTO_ENFORCE', 'TRUST_PROXY'],
    ...[
      'COUNTRY_HEADER',
      'GEOIP_DB',
      'CORS_ORIGINS',
      'LOG_RETENTION_DAYS',
      'EVENT_RETENTION_DAYS',
      'WORKERS',
      'LOG_LEVEL',
      'REGISTRATION',
    ],
    ...['TURNSTILE_VERIFY_URL', 'METRICS_PORT', 'METRICS_HOST', 'SHUTDOWN_SECONDS', 'CACHED_LICENSES'],
  ];
  const environment = fc
    .tuple(
      fc.dictionary(fc.constantFrom(...variables), value),
      fc.option(
        fc.array(limit, { maxLength: 4 }).map((limits) => limits.map((parts) => parts.join('')).join()),
      ),
    )
    .map(([env, limits]) => ({
      ...env,
      ...(limits !== null && { RATE_LIMITS: limits }),
      SERVICE_SECRET: secret,
      DATABASE_URL: `postgresql://latchkey:${password}@db.example/latchkey`,
    }));
  return check(
    1000,
    fc.property(environment, (env) => {
      try {
        const config = loadConfig(env);
        expect(Object.isFrozen(config)).toBe(true);
        for (const points of Object.values(config.rateLimits)) expect(points).toBeGreaterThan(0);
        expect(config.trustProxy).toBeLessThanOrEqual(10);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        expect(error.problems.length).toBeGreaterThan(0);
        const words = error.message + error.problems.join('');
        expect(words).not.toContain(secret);
        expect(words).not.toContain(password);
      }
    }),
  );
});
