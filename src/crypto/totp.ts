import { Secret, TOTP } from 'otpauth';
import { randomBytes } from '../lib/random-bytes.ts';

/** What authenticator apps support: RFC 6238 with SHA-1, six digits and steps of 30 seconds. */
const parameters = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
const secretBytes = 20;
/** Codes of this many steps before and after the current one are accepted, as RFC 6238 §5.2 recommends. */
const tolerance = 1;

/** The number of 30-second steps since the Unix epoch. @param now in milliseconds */
export const totpStepAt = (now: number): number => Math.floor(now / 1000 / parameters.period);

/** Generates a secret of 160 random bits, the length of the HMAC (RFC 4226 §4). */
export const createTotpSecret = (): Uint8Array<ArrayBuffer> => new Uint8Array(randomBytes(secretBytes));

/** How an authenticator app gets a secret: as text in base32 (RFC 4648), and as the URI that a QR code has. */
export function describeTotpSecret(
  secret: Uint8Array<ArrayBuffer>,
  account: string,
): { readonly secret: string; readonly uri: string } {
  const own = new Secret({ buffer: secret.buffer });
  const totp = new TOTP({ ...parameters, secret: own, issuer: 'Latchkey', label: account });
  return { secret: own.base32, uri: totp.toString() };
}

/**
 * The step that a code belongs to; null if it is wrong. The comparison takes constant time.
 * @param now in milliseconds
 */
export function stepOfTotpCode(secret: Uint8Array<ArrayBuffer>, code: string, now: number): number | null {
  const delta = TOTP.validate({
    ...parameters,
    token: code,
    secret: new Secret({ buffer: secret.buffer }),
    timestamp: now,
    window: tolerance,
  });
  return delta === null ? null : totpStepAt(now) + delta;
}
