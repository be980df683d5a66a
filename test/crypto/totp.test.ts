import { describe, expect, test } from 'vitest';
import { createKeyring } from '../../src/crypto/keyring.ts';
import { createRecoveryCode, recoveryCodeHash } from '../../src/crypto/recovery-code.ts';
import { openTotpSecret, sealTotpSecret } from '../../src/crypto/sealed-totp-secret.ts';
import { createTotpSecret, stepOfTotpCode } from '../../src/crypto/totp.ts';

describe('a TOTP code', () => {
  /** RFC 6238, appendix B: of the codes for SHA-1, the last six digits. */
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('of RFC 6238 at %d s is accepted', (seconds, code) => {
    const secret = new Uint8Array(Buffer.from('12345678901234567890'));
    expect(stepOfTotpCode(secret, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
    expect(stepOfTotpCode(secret, code, (seconds + 90) * 1000)).toBeNull();
  });

  test.each(['', '28708', '2870822', '28708a', ' 287082', '-87082'])('that is %j is wrong', (code) => {
    const secret = new Uint8Array(Buffer.from('12345678901234567890'));
    expect(stepOfTotpCode(secret, code, 59_000)).toBeNull();
  });

  test('of a secret of 160 random bits', () => {
    const secrets = Array.from({ length: 20 }, () => Buffer.from(createTotpSecret()).toString('hex'));
    expect(new Set(secrets).size).toBe(20);
    for (const secret of secrets) expect(secret).toHaveLength(40);
  });
});

describe('a sealed TOTP secret', () => {
  const [old, current] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const secret = createTotpSecret();
  const sealed = sealTotpSecret(createKeyring(old), 'one', secret);

  test('opens with its master secret, also as the previous one', () => {
    expect(openTotpSecret(createKeyring(old), 'one', sealed)).toEqual({ secret, isCurrent: true });
    const rotated = createKeyring(current, [{ secret: old, replacedAt: null }]);
    expect(openTotpSecret(rotated, 'one', sealed)).toEqual({ secret, isCurrent: false });
  });

  test('opens neither with another master secret, nor for another developer, nor altered', () => {
    expect(openTotpSecret(createKeyring(current), 'one', sealed)).toBeNull();
    expect(openTotpSecret(createKeyring(old), 'two', sealed)).toBeNull();
    expect(
      openTotpSecret(
        createKeyring(old),
        'one',
        sealed.map((byte, at) => (at === 20 ? byte ^ 1 : byte)),
      ),
    ).toBeNull();
  });
});

describe('a recovery code', () => {
  test('has 80 random bits, and one hash in any spelling', () => {
    const codes = Array.from({ length: 100 }, createRecoveryCode);
    expect(new Set(codes).size).toBe(100);
    for (const code of codes) expect(code).toMatch(/^[A-Z2-7]{4}(-[A-Z2-7]{4}){3}$/);
    expect(recoveryCodeHash('abcd efgh-ijklmnop')).toEqual(recoveryCodeHash('ABCD-EFGH-IJKL-MNOP'));
    expect(recoveryCodeHash('ABCD-EFGH-IJKL-MNOP')).not.toEqual(recoveryCodeHash('ABCD-EFGH-IJKL-MNOQ'));
  });
});
