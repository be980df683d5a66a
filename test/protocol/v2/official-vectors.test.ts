import { createCipheriv, createDecipheriv } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { nativePrimitives } from '../../../src/crypto/native-primitives.ts';
import { agreeX25519, x25519PrivateKey } from '../../../src/crypto/x25519.ts';
import { decodeBase64Url, encodeBase64Url } from '../../../src/protocol/base64.ts';
import { utf8 } from '../../../src/protocol/bytes.ts';
import { getPublicKey, signBytes, verifyBytes } from '../../../src/protocol/signature.ts';
import { deriveContext, keyScheduleContext } from '../../../src/protocol/v2/hpke.ts';
import { statementBody } from '../../../src/protocol/v2/key-statement.ts';
import { noblePrimitives } from '../../../src/protocol/v2/primitives.ts';
import { keyPairOf } from '../../../src/tools/vectors/v2/x25519.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'));
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const x25519 = (privateKey: Uint8Array, peer: Uint8Array): Uint8Array =>
  agreeX25519(x25519PrivateKey(keyPairOf(privateKey)), peer) ?? expect.fail('the shared point is zero');

describe('RFC 7748', () => {
  test.each([
    [
      'a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4',
      'e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c',
      'c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552',
    ],
    [
      '4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d',
      'e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493',
      '95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957',
    ],
  ])('§5.2: X25519 of %s', (scalar, point, output) => {
    expect(hexOf(x25519(hex(scalar), hex(point)))).toBe(output);
  });

  test('§5.2: iterated once and 1,000 times', () => {
    let scalar = new Uint8Array(32).fill(9, 0, 1);
    let point = scalar;
    const after: string[] = [];
    for (let count = 1; count <= 1000; count += 1) {
      [scalar, point] = [Uint8Array.from(x25519(scalar, point)), scalar];
      if (count === 1 || count === 1000) after.push(hexOf(scalar));
    }
    expect(after).toEqual([
      '422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079',
      '684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51',
    ]);
  });

  test('§6.1: both sides agree', () => {
    const alice = keyPairOf(hex('77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a'));
    const bob = keyPairOf(hex('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb'));
    expect(hexOf(alice.publicKey)).toBe('8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a');
    expect(hexOf(bob.publicKey)).toBe('de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f');
    const secret = '4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742';
    expect(hexOf(x25519(alice.privateKey, bob.publicKey))).toBe(secret);
    expect(hexOf(x25519(bob.privateKey, alice.publicKey))).toBe(secret);
  });
});

describe('RFC 8037', () => {
  const seed = decodeBase64Url('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A') ?? expect.fail();
  const publicKey = decodeBase64Url('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo') ?? expect.fail();
  const signed = utf8('eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc');
  const signature = 'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg';

  test('§A.1, §A.4: the signature of a JWS', () => {
    expect(hexOf(getPublicKey(seed))).toBe(hexOf(publicKey));
    expect(encodeBase64Url(signBytes(signed, seed))).toBe(signature);
  });

  test('§A.5: it is valid', () => {
    expect(verifyBytes(decodeBase64Url(signature) ?? expect.fail(), signed, publicKey)).toBe(true);
  });
});

const implementations = [
  { name: 'noble', primitives: noblePrimitives },
  { name: 'native', primitives: nativePrimitives },
];

// The exported secrets of the same section are in hpke.test.ts.
describe.each(implementations)('RFC 9180 §A.2.1 with $name primitives', ({ primitives }) => {
  const info = hex('4f6465206f6e2061204772656369616e2055726e');
  const encapsulatedKey = hex('1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a');
  const recipientKey = hex('4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a');
  const scheduleContext = keyScheduleContext(info, primitives);
  const context = (sharedPoint: Uint8Array) =>
    deriveContext({ sharedPoint, encapsulatedKey, recipientKey, scheduleContext }, primitives) ??
    expect.fail('the shared point is zero');
  const sender = context(
    x25519(hex('f4ec9b33b792c372c1d2c2063507b684ef925b8c75a42dbcbf57d63ccd381600'), recipientKey),
  );
  const recipient = context(
    x25519(hex('8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb'), encapsulatedKey),
  );
  const key = hex('ad2744de8e17f4ebba575b3f5f5a8fa1f69c2a07f6e7500bc60ca6e3e3ec1c91');
  const nonce = hex('5c4d98150661b848853b547f');
  const plaintext = hex('4265617574792069732074727574682c20747275746820626561757479');

  test('the schedule context', () => {
    expect(hexOf(scheduleContext)).toBe(
      '00431df6cd95e11ff49d7013563baf7f11588c75a6611ee2a4404a49306ae4cfc5' +
        'b69c5718a60cc5876c358d3f7fc31ddb598503f67be58ea1e798c0bb19eb9796',
    );
  });

  test('both sides have the key and the base nonce', () => {
    const sealed = primitives.seal(key, nonce, plaintext);
    expect(hexOf(sender.seal(plaintext))).toBe(hexOf(sealed));
    expect(hexOf(recipient.open(sealed) ?? expect.fail())).toBe(hexOf(plaintext));
  });

  test('the encryption with sequence number 0, but for its tag', () => {
    // The RFC's messages have associated data and this protocol's have none. In ChaCha20-Poly1305 it enters only the tag.
    const official = hex(
      '1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28',
    );
    const options = { authTagLength: 16 };
    const cipher = createCipheriv('chacha20-poly1305', key, nonce, options);
    cipher.setAAD(utf8('Count-0'), { plaintextLength: plaintext.length });
    const withData = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    expect(hexOf(withData)).toBe(hexOf(official));
    const sealed = sender.seal(plaintext);
    expect(hexOf(sealed.subarray(0, -16))).toBe(hexOf(official.subarray(0, -16)));
    expect(recipient.open(official)).toBeNull();
  });
});

// The example has another AEAD, AES-128-GCM, and other media types, so that its HPKE context is not one of ours.
describe('RFC 9458 §A', () => {
  const publicKey = hex('31e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e798155');
  const encapsulatedKey = hex('4b28f881333e7c164ffc499ad9796f877f4e1051ee6d31bad19dec96c208b472');

  test('the key configuration, but for its list of suites', () => {
    const official = hex(
      '01002031e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e79815500080001000100010003',
    );
    const period = { notBefore: 1, notAfter: 2 };
    const configuration = statementBody({ ...period, keyId: 1, publicKey }).subarray(16);
    expect(hexOf(configuration.subarray(0, 35))).toBe(hexOf(official.subarray(0, 35)));
    // The example lists two suites of 4 bytes each. Ours lists the second of them alone.
    expect(hexOf(official.subarray(35))).toBe('0008' + '00010001' + '00010003');
    expect(hexOf(configuration.subarray(35))).toBe('0004' + '00010003');
  });

  test('the keys of the example', () => {
    const secretKey = hex('3c168975674b2fa8e465970b79c8dcf09f1c741626480bd4c6162fc5b6a98e1a');
    const ephemeral = hex('bc51d5e930bda26589890ac7032f70ad12e4ecb37abb1b65b1256c9c48999c73');
    expect(hexOf(keyPairOf(secretKey).publicKey)).toBe(hexOf(publicKey));
    expect(hexOf(keyPairOf(ephemeral).publicKey)).toBe(hexOf(encapsulatedKey));
    expect(hexOf(x25519(secretKey, encapsulatedKey))).toBe(hexOf(x25519(ephemeral, publicKey)));
  });

  test.each(implementations)('the response opens with keys derived by $name primitives', ({ primitives }) => {
    const nonce = hex('c789e7151fcba46158ca84b04464910d');
    const secret = hex('62d87a6ba569ee81014c2641f52bea36');
    const response = hex('c789e7151fcba46158ca84b04464910d86f9013e404feea014e7be4a441f234f857fbd');
    const prk = primitives.extract(Buffer.concat([encapsulatedKey, nonce]), secret);
    expect(hexOf(prk)).toBe('979aaeae066cf211ab407b31ae49767f344e1501e475c84e8aff547cc5a683db');
    const key = primitives.expand(prk, utf8('key'), 16);
    const iv = primitives.expand(prk, utf8('nonce'), 12);
    expect(hexOf(key)).toBe('5d0172a080e428b16d298c4ea0db620d');
    expect(hexOf(iv)).toBe('f6bf1aeb88d6df87007fa263');
    const decipher = createDecipheriv('aes-128-gcm', key, iv);
    decipher.setAuthTag(response.subarray(-16));
    const opened = Buffer.concat([decipher.update(response.subarray(16, -16)), decipher.final()]);
    expect(hexOf(opened)).toBe('0140c8');
  });
});
