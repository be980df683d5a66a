/** @module-tag slow */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import { decodeBase64 } from '../../src/protocol/base64.ts';
import { concatBytes } from '../../src/protocol/bytes.ts';
import { readAnswer } from '../../src/protocol/v2/read-answer.ts';
import { type CallClient, createCallClient, type SentCall } from '../setup/call-client.ts';
import { forFile, useWorld } from '../setup/use-world.ts';
import { damaged, fuzz, fuzzTimeout } from './fuzz.ts';

// Version 2: nobody who changes a request or an answer on its way gets anything accepted. With FUZZ_RUNS=500000 these are a
// million inputs.

const runs = 10_000;
const { server, world } = useWorld({ env: { RATE_LIMITS: 'validate=100000000' } });

interface Exchange {
  readonly client: CallClient;
  readonly appId: string;
  readonly publicKey: Uint8Array;
  /** Requests that would be accepted: they have not been sent. */
  readonly unsent: readonly SentCall[];
  /** One that was sent, with its answer. */
  readonly sent: SentCall;
  readonly answer: Uint8Array;
}

const exchange = forFile<Exchange>(async () => {
  // A million inputs take longer than a request is on time.
  server.clock.hold();
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const client = createCallClient(server, application);
  const seal = () => client.seal(client.plaintext('validate', { licenseKey, hwid: 'one' }));
  const unsent = [await seal(), await seal()];
  const sent = await seal();
  const response = await client.post(sent.body);
  expect(client.open(sent, response)).toMatchObject({ success: true });
  const publicKey = decodeBase64(application.publicKeyB64) ?? expect.fail();
  return { client, appId: application.id, publicKey, unsent, sent, answer: response.bytes };
});

/** Parts of two requests, put together. */
const spliced = (one: Uint8Array, other: Uint8Array): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(fc.integer({ min: 0, max: one.length }), fc.integer({ min: 0, max: other.length }))
    .map(([from, to]) => concatBytes(one.subarray(0, from), other.subarray(to)));

const mutated = (one: Uint8Array, other: Uint8Array): fc.Arbitrary<Uint8Array> =>
  fc
    .oneof(
      { weight: 3, arbitrary: damaged(one) },
      { weight: 2, arbitrary: spliced(one, other) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2_000 }) },
    )
    .map((bytes) => new Uint8Array(bytes))
    .filter((bytes) => ![one, other].some((original) => Buffer.from(original).equals(bytes)));

test('no changed request is opened, and none is an internal error', { timeout: fuzzTimeout }, async () => {
  const { client, unsent } = exchange;
  const [one, other] = unsent;
  if (one === undefined || other === undefined) expect.fail('there are no requests');
  await fc.assert(
    fc.asyncProperty(mutated(one.body, other.body), async (body) => {
      const { status, error } = await client.post(body);
      expect(status).toBe(400);
      expect(['MALFORMED', 'KEY_UNKNOWN']).toContain((error as { code: string }).code);
    }),
    fuzz(runs),
  );
  for (const request of unsent)
    expect(client.open(request, await client.post(request.body))).toMatchObject({ code: 'OK' });
});

test('no changed answer is read', { timeout: fuzzTimeout }, () => {
  const { sent, answer, appId, publicKey } = exchange;
  const request = { call: 'validate', appId, publicKey, secret: sent, sha256: sha256(sent.body) } as const;
  expect(readAnswer(answer, request)).toMatchObject({ kind: 'answer' });
  fc.assert(
    fc.property(mutated(answer, sent.body), (body) => {
      expect(readAnswer(body, request).kind).toBe('none');
    }),
    fuzz(runs),
  );
});
