import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { systemClock } from '../../src/lib/clock.ts';
import { ApiClient } from '../setup/api-client.ts';
import { type CallClient, createCallClient, type SentCall } from '../setup/call-client.ts';
import type { ServiceProcess } from '../setup/process.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import type { SeededApplication } from '../setup/world.ts';

/** Sends an accepted request once more, to this service. True if it was accepted again. */
type Replay = (service: ServiceProcess) => Promise<boolean>;

interface Customer {
  readonly name: string;
  /** Validates once, on time. Null if it was refused. */
  validate(): Promise<Replay | null>;
}

const pauseMilliseconds = 10;
const refusal = z.object({ code: z.string() });

/**
 * Customers of both protocol versions on every service process. Each keeps what was accepted, and sends it again to any
 * process while the load runs.
 */
export class ReplayingLoad {
  replaysAccepted = 0;
  replaysSent = 0;
  /** The slowest answer that refused a request for now (503 or UNAVAILABLE), in milliseconds. */
  slowestRefusal = 0;
  refusals = 0;
  accepted = 0;
  /** When each customer's last request that was accepted began, in terms of `performance.now()`. */
  readonly #lastAccepted = new Map<string, number>();
  readonly #recorded: { readonly at: number; readonly replay: Replay }[] = [];
  readonly #services: readonly ServiceProcess[];
  readonly #application: SeededApplication;
  readonly #ended = new AbortController();
  readonly #loops: Promise<void>[] = [];

  private constructor(services: readonly ServiceProcess[], application: SeededApplication) {
    this.#services = services;
    this.#application = application;
  }

  static async start(
    services: readonly ServiceProcess[],
    application: SeededApplication,
  ): Promise<ReplayingLoad> {
    const load = new ReplayingLoad(services, application);
    const { licenseKey } = await application.mintOne();
    for (const [place, service] of services.entries()) {
      load.#run(load.#sessionCustomer(`version 1 at ${place}`, service, licenseKey));
      load.#run(load.#callCustomer(`version 2 at ${place}`, service, licenseKey));
    }
    return load;
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#loops);
  }

  /** Waits until every customer has been accepted since a time, and returns the longest wait since then in milliseconds. */
  async untilAccepted(since: number): Promise<number> {
    const names = [...this.#lastAccepted.keys()];
    const waits = new Map<string, number>();
    while (waits.size < names.length) {
      for (const name of names) {
        const last = this.#lastAccepted.get(name) ?? 0;
        if (last > since && !waits.has(name)) waits.set(name, last - since);
      }
      await sleep(2);
    }
    return Math.max(...waits.values());
  }

  /** Sends everything that was accepted since a time again, to every service, and returns how many requests these are. */
  async replaySince(since: number): Promise<number> {
    const recorded = this.#recorded.filter(({ at }) => at >= since);
    for (const { replay } of recorded) {
      for (const service of this.#services) await this.#replay(replay, service);
    }
    return recorded.length;
  }

  async #replay(replay: Replay, service: ServiceProcess): Promise<void> {
    this.replaysSent += 1;
    if (await replay(service)) this.replaysAccepted += 1;
  }

  #run(customer: Customer): void {
    this.#lastAccepted.set(customer.name, 0);
    const loop = async () => {
      for (let turn = 0; !this.#ended.signal.aborted; turn += 1) {
        const at = performance.now();
        const replay = await customer.validate();
        if (replay !== null) {
          this.accepted += 1;
          this.#lastAccepted.set(customer.name, at);
          this.#recorded.push({ at, replay });
        }
        const known = this.#recorded[this.#recorded.length - 1 - (turn % 50)];
        const service = this.#services[turn % this.#services.length];
        if (known !== undefined && service !== undefined) await this.#replay(known.replay, service);
        await sleep(pauseMilliseconds);
      }
    };
    this.#loops.push(loop());
  }

  #sessionCustomer(name: string, service: ServiceProcess, licenseKey: string): Customer {
    let session: SealedSession | null = null;
    const at = { baseUrl: service.url, clock: systemClock };
    return {
      name,
      validate: async () => {
        session ??= await openSession(at, this.#application).catch(() => null);
        if (session === null) return null;
        const { seal, inner, client } = session;
        const envelope = seal(inner({ licenseKey }));
        const answer = await this.#timed(
          () => client.post(validatePath, envelope),
          ({ status }) => status === 503,
        );
        if (answer === null) return null;
        if (answer.status !== 200) {
          if (refusal.safeParse(answer.body).data?.code === 'SESSION_EXPIRED') session = null;
          return null;
        }
        if (session.open(answer).code !== 'OK') return null;
        return async ({ url }) => {
          const again = await this.#timed(
            () => new ApiClient(url).post(validatePath, envelope),
            ({ status }) => status === 503,
          );
          return again?.status === 200;
        };
      },
    };
  }

  #callCustomer(name: string, service: ServiceProcess, licenseKey: string): Customer {
    const clientAt = ({ url }: ServiceProcess) =>
      createCallClient(
        { baseUrl: url, clock: systemClock },
        this.#application,
        `10.${randomBytes(3).join('.')}`,
      );
    const client = clientAt(service);
    let key: Awaited<ReturnType<CallClient['key']>> | null = null;
    const send = async (to: CallClient, sent: SentCall): Promise<unknown> => {
      const code = ({ status, error }: Awaited<ReturnType<CallClient['post']>>) =>
        status === 200 ? null : (refusal.safeParse(error).data?.code ?? String(status));
      const opened = await this.#timed(
        async () => {
          const response = await to.post(sent.body);
          return code(response) ?? to.open(sent, response).code;
        },
        (what) => what === 'UNAVAILABLE',
      );
      return opened;
    };
    return {
      name,
      validate: async () => {
        key ??= await client.key().catch(() => null);
        if (key === null) return null;
        const sent = await client.seal(client.plaintext('validate', { licenseKey }), { key });
        const code = await send(client, sent);
        if (code === 'KEY_UNKNOWN') key = null;
        if (code !== 'OK') return null;
        return async (to) => (await send(clientAt(to), sent)) === 'OK';
      },
    };
  }

  /** Sends a request. Null if there was no answer, which no outage of Redis may cause. */
  async #timed<Answer>(
    send: () => Promise<Answer>,
    isRefusal: (answer: Answer) => boolean,
  ): Promise<Answer | null> {
    const begin = performance.now();
    const answer = await send();
    if (isRefusal(answer)) {
      this.refusals += 1;
      this.slowestRefusal = Math.max(this.slowestRefusal, performance.now() - begin);
    }
    return answer;
  }
}
