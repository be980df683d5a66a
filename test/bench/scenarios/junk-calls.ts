import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ClientOptions } from '../../../src/sdk/index.ts';
import { makeAhead } from '../ahead.ts';
import { signaturesEach, signaturesPath } from '../bare/signatures.ts';
import { createCallClient } from '../call-client.ts';
import { httpRequest } from '../http-message.ts';
import { jsonOf, quote, type Scenario } from '../scenario.ts';
import { callRequest } from './calls.ts';
import type { Programs } from './programs.ts';

export const junkNames = {
  junk: 'client: junk call',
  malformed: 'client: junk call that is too short',
  signatures: `bare program: ${signaturesEach} signatures, to compare a junk call with`,
} as const;

/** As long as the request of most calls. */
const junkBytes = 311;
/** The key's id and the suite. */
const headerBytes = 7;
/** A byte less than a request without any plaintext. */
const malformedBytes = 54;

/**
 * What anyone can make the service do: decrypt what is not encrypted to its key. The least that it does with a refused
 * call, and what a signature takes, are there to compare it with.
 */
export const junkScenarios = ({ clients }: Programs): Scenario[] => [
  junkScenario(clients.service),
  malformedScenario(),
  signatureScenario(),
];

/** Well-formed, under the current key, with a fresh point; its ciphertext is noise. */
function junkScenario(client: ClientOptions): Scenario {
  const callClient = createCallClient(client);
  let header: Uint8Array = new Uint8Array();
  const requests = makeAhead(() =>
    callRequest(Buffer.concat([header, randomBytes(junkBytes - header.length)])),
  );
  return {
    name: junkNames.junk,
    prepare: async (amount) => {
      await callClient.refresh();
      header = callClient.seal('validate', {}).body.subarray(0, headerBytes);
      requests.prepare(amount);
    },
    next: requests.next,
    ...refusedWith('KEY_UNKNOWN'),
  };
}

function malformedScenario(): Scenario {
  const request = callRequest(new Uint8Array(malformedBytes));
  return { name: junkNames.malformed, next: () => request, ...refusedWith('MALFORMED') };
}

const refusal = z.object({ success: z.literal(false), code: z.string() });

/** Nothing but this unsigned error is right. */
function refusedWith(code: string): Pick<Scenario, 'faultOf' | 'closeFaultOf'> {
  const member = Buffer.from(`"code":"${code}"`);
  return {
    faultOf: (answer) => (answer.status === 400 && answer.body.includes(member) ? null : quote(answer)),
    closeFaultOf: (answer) => {
      const parsed = refusal.safeParse(jsonOf(answer));
      return parsed.success && parsed.data.code === code ? null : quote(answer);
    },
  };
}

/** One at a time, as each takes long. */
function signatureScenario(): Scenario {
  const request = httpRequest({ method: 'GET', path: signaturesPath });
  return {
    name: junkNames.signatures,
    target: 'bare',
    connections: 1,
    next: () => request,
    faultOf: (answer) => (answer.status === 200 ? null : quote(answer)),
    closeFaultOf: (answer) => {
      const parsed = z.object({ made: z.literal(signaturesEach) }).safeParse(jsonOf(answer));
      return parsed.success ? null : quote(answer);
    },
  };
}
