import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { systemClock } from '../../src/lib/clock.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { createWorld } from '../setup/world.ts';

/** A program that validates one license repeatedly over one kept-alive connection. */
export interface Customer {
  readonly answered: number;
  /** Failed requests, in order. */
  readonly failures: readonly unknown[];
}

export interface Load {
  readonly customers: readonly Customer[];
  answered(): number;
  failures(): unknown[];
  /** Stops after each customer's current request. */
  stop(): Promise<void>;
  /** Resolves when each customer has failed once. */
  readonly ended: Promise<unknown>;
}

/**
 * Starts customers of one application, whose connections are opened one after another.
 * @param goOn whether a customer opens another connection after a failure, or stops
 */
export async function startLoad(
  baseUrl: string,
  options: { readonly customers: number; readonly goOn: boolean },
): Promise<Load> {
  const application = await (await createWorld({ baseUrl })).createApplication();
  let stopped = false;
  const begin = async () => {
    const { licenseKey } = await application.mintOne();
    const session = await openSession({ baseUrl, clock: systemClock }, application);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const customer = { answered: 0, failures: [] as unknown[] };
    const validate = async () => {
      try {
        const sealed = session.seal(session.inner({ licenseKey }));
        const answer = await post(new URL(validatePath, baseUrl), agent, session.client.ip, sealed);
        const { code } = session.open(answer);
        if (code === 'OK') customer.answered += 1;
        else customer.failures.push(code);
      } catch (error) {
        customer.failures.push(error);
      }
    };
    await validate();
    return {
      customer,
      work: async () => {
        while (!stopped && (options.goOn || customer.failures.length === 0)) await validate();
        agent.destroy();
      },
    };
  };
  const begun: Awaited<ReturnType<typeof begin>>[] = [];
  for (let count = 0; count < options.customers; count += 1) begun.push(await begin());
  const ended = Promise.all(begun.map(({ work }) => work()));
  const customers = begun.map(({ customer }) => customer);
  return {
    customers,
    answered: () => customers.reduce((sum, { answered }) => sum + answered, 0),
    failures: () => customers.flatMap(({ failures }) => failures),
    stop: async () => {
      stopped = true;
      await ended;
    },
    ended,
  };
}

async function post(url: URL, agent: Agent, ip: string, body: unknown) {
  const sent = request(url, {
    method: 'POST',
    agent,
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': ip },
  });
  const answered = once(sent, 'response');
  sent.end(JSON.stringify(body));
  const [response]: IncomingMessage[] = await answered;
  if (response === undefined) throw new Error('there is no response');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, headers: new Headers(), body: JSON.parse(text) };
}
