import type { z } from 'zod';
import type { JsonObject } from '../../../src/protocol/canonical-json.ts';
import { clientPaths } from '../../../src/protocol/constants.ts';
import type { ClientOptions } from '../../../src/sdk/index.ts';
import { makeAhead } from '../ahead.ts';
import { type HttpRequest, httpRequest } from '../http-message.ts';
import { jsonOf, quote, type Scenario } from '../scenario.ts';
import { createSealedClient, type SealedRequest } from '../sealed-client.ts';

export interface SealedScenario
  extends Pick<Scenario, 'name' | 'target' | 'connections' | 'pauseMilliseconds'> {
  readonly client: ClientOptions;
  readonly path: string;
  /** The next request's members beside its head. */
  readonly members: () => JsonObject;
  /** The shape of a good inner answer. */
  readonly result: z.ZodType;
  /** Answers of the bare program are to be as long as those of the service, in bytes; noted here, by path. */
  readonly lengths: Map<string, number>;
}

/** A sealed request, fresh each time, that is to be answered with success. */
export function sealedScenario(options: SealedScenario): Scenario {
  const { client, path, members, result, lengths, ...scenario } = options;
  const sealed = createSealedClient(client);
  const sent = new WeakMap<HttpRequest, SealedRequest>();
  const requests = makeAhead(() => {
    const sealedRequest = sealed.seal(members());
    const request = httpRequest({ method: 'POST', path, body: sealedRequest.body });
    sent.set(request, sealedRequest);
    return request;
  });
  let length: number | undefined;
  return {
    ...scenario,
    isLogged: path === clientPaths.validate && scenario.target !== 'bare',
    prepare: async (amount) => {
      await sealed.refresh();
      requests.prepare(amount);
    },
    next: requests.next,
    // Every refusal is of another length than success: its code, its text and its members differ.
    faultOf: (answer) =>
      answer.status === 200 && (length === undefined || answer.body.length === length) ? null : quote(answer),
    isCheckedInBlocks: true,
    closeFaultOf: (answer, request) => {
      const sealedRequest = sent.get(request);
      if (sealedRequest === undefined) return 'This was not asked';
      length = answer.body.length;
      const expected = lengths.get(path) ?? length;
      lengths.set(path, length);
      const fault = sealed.faultOf(jsonOf(answer), sealedRequest, result);
      if (fault !== null || length === expected) return fault;
      return `Service and bare program answer ${expected} and ${length} bytes: they do not do the same`;
    },
  };
}
