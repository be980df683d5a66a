import type { JsonObject } from '../../../src/protocol/canonical-json.ts';
import { callPath, keyPath, requestMediaType, statementBytes } from '../../../src/protocol/v2/constants.ts';
import { readStatement } from '../../../src/protocol/v2/key-statement.ts';
import type { CallName } from '../../../src/protocol/v2/messages.ts';
import type { ClientOptions } from '../../../src/sdk/index.ts';
import { parseOptions } from '../../../src/sdk/options.ts';
import { makeAhead } from '../ahead.ts';
import { createCallClient, type SentCall } from '../call-client.ts';
import { type HttpRequest, httpRequest } from '../http-message.ts';
import { type Comparison, quote, type Scenario } from '../scenario.ts';
import type { Programs } from './programs.ts';
import { inTurn, validateNames } from './validate.ts';

export const callNames = {
  service: 'client: call validate',
  bare: 'bare program: call validate',
  statement: 'client: key statement',
  lease: 'client: call lease',
} as const;

export const callComparisons: readonly Comparison[] = [
  { measured: callNames.service, against: callNames.bare, of: 'rate' },
  { measured: callNames.service, against: callNames.bare, of: 'cost' },
  { measured: callNames.service, against: validateNames.service, of: 'cost' },
  { measured: callNames.statement, against: validateNames.service, of: 'cost' },
  { measured: callNames.lease, against: validateNames.service, of: 'cost' },
];

/** Version 2: the question that a program asks at its start, and the key that it encrypts its questions to. */
export function callScenarios({ seed, clients }: Programs): Scenario[] {
  const lengths = new Map<CallName, number>();
  const validate = (target: 'service' | 'bare'): Scenario =>
    callScenario({
      name: callNames[target],
      target,
      client: clients[target],
      call: 'validate',
      members: inTurn(seed.bound),
      lengths,
    });
  const lease = callScenario({
    name: callNames.lease,
    client: clients.service,
    call: 'lease',
    members: inTurn(seed.bound),
    lengths,
  });
  return [validate('service'), validate('bare'), statementScenario(clients.service), lease];
}

export interface CallScenario extends Pick<Scenario, 'name' | 'target'> {
  readonly client: ClientOptions;
  readonly call: CallName;
  /** The next request's members beside its head. */
  readonly members: () => JsonObject;
  /** Answers of the bare program are to be as long as those of the service without their padding, in bytes; noted here. */
  readonly lengths: Map<CallName, number>;
}

/** A call, fresh each time, that is to be answered with success. */
function callScenario({ client, call, members, lengths, ...scenario }: CallScenario): Scenario {
  const callClient = createCallClient(client);
  const sent = new WeakMap<HttpRequest, SentCall>();
  const requests = makeAhead(() => {
    const sealed = callClient.seal(call, members());
    const request = callRequest(sealed.body);
    sent.set(request, sealed);
    return request;
  });
  // A lease has numbers of any length, and padding hides them up to 256 bytes.
  const isOfOneLength = call !== 'lease';
  let length: number | undefined;
  return {
    ...scenario,
    isLogged: call === 'validate' && scenario.target !== 'bare',
    prepare: async (amount) => {
      await callClient.refresh();
      requests.prepare(amount);
    },
    next: requests.next,
    faultOf: (answer) =>
      answer.status === 200 && (length === undefined || !isOfOneLength || answer.body.length === length)
        ? null
        : quote(answer),
    // Padding makes a refusal as long as success.
    isCheckedInBlocks: true,
    closeFaultOf: ({ body }, request) => {
      const sealed = sent.get(request);
      if (sealed === undefined) return 'This was not asked';
      const read = callClient.read(body, sealed);
      if (read.fault !== null) return read.fault;
      length = body.length;
      const expected = lengths.get(call) ?? read.jsonBytes;
      lengths.set(call, read.jsonBytes);
      if (read.jsonBytes === expected || !isOfOneLength) return null;
      return `Service and bare program answer ${expected} and ${read.jsonBytes} bytes: they do not do the same`;
    },
  };
}

/** A request of version 2 with this body. */
export const callRequest = (bytes: Uint8Array): HttpRequest =>
  httpRequest({ method: 'POST', path: callPath, content: { type: requestMediaType, bytes } });

/** The key, without an ETag of an earlier answer. */
function statementScenario(client: ClientOptions): Scenario {
  const { appId, publicKey } = parseOptions(client);
  const request = httpRequest({ method: 'GET', path: keyPath(appId) });
  return {
    name: callNames.statement,
    next: () => request,
    faultOf: (answer) =>
      answer.status === 200 && answer.body.length === statementBytes ? null : quote(answer),
    closeFaultOf: ({ body }) =>
      readStatement(body, appId, publicKey) === null ? 'The statement is not valid' : null,
  };
}
