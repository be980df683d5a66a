import { randomBytes } from 'node:crypto';
import { hashPassword } from '../../../src/crypto/password.ts';
import { createSigner } from '../../../src/crypto/signer.ts';
import { decodeBase64Url } from '../../../src/protocol/base64.ts';
import { openSession } from '../../../src/sdk/handshake.ts';
import { createPostJson } from '../../../src/sdk/http.ts';
import { type ClientOptions, createClient } from '../../../src/sdk/index.ts';
import { parseOptions } from '../../../src/sdk/options.ts';
import { customerPassword, type Seed } from '../seed.ts';
import type { BareMaterial } from './material.ts';

/** What the bare program is to know so that its bytes are like those of this service, under a key of its own. */
export async function bareLikeService({ client, bound }: Seed): Promise<{
  readonly material: BareMaterial;
  readonly publicKeyB64: string;
}> {
  const seed = randomBytes(32);
  return {
    material: {
      appId: client.appId,
      seedB64: seed.toString('base64'),
      licenseKeys: bound.map(({ licenseKey }) => licenseKey),
      numberedLicenses: 0,
      answer: await verdictOn(client, bound[0]),
      sessionIdBytes: await sessionIdBytes(client),
      passwordHash: await hashPassword(customerPassword, 'bench'),
    },
    publicKeyB64: Buffer.from(createSigner(seed).publicKey).toString('base64'),
  };
}

async function verdictOn(
  client: ClientOptions,
  license: Seed['bound'][number] | undefined,
): Promise<BareMaterial['answer']> {
  if (license === undefined) throw new Error('There is no license to ask about');
  const outcome = await createClient(client).validate(license.licenseKey, { hwid: license.hwid });
  if (outcome.kind !== 'verdict' || !outcome.valid || outcome.expiresAt === null) {
    throw new Error(`The service refused a customer: ${JSON.stringify(outcome)}`);
  }
  const { message, status, expiresAt, subscriptionTier } = outcome;
  return { message, status, expiresAt: expiresAt.toISOString(), subscriptionTier };
}

async function sessionIdBytes(client: ClientOptions): Promise<number> {
  const settings = parseOptions(client);
  const post = createPostJson(settings.baseUrl, settings.fetch);
  const session = await openSession(settings, post, AbortSignal.timeout(30_000));
  const bytes = session.kind === 'session' ? decodeBase64Url(session.sessionId) : null;
  if (bytes === null) throw new Error('The service opened no session whose id is base64url');
  return bytes.length;
}
