import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import { type ApiAnswer, ApiClient } from '../setup/api-client.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import type { TestServer } from '../setup/server.ts';
import type { SeededApplication, SeededLicense, World } from '../setup/world.ts';
import { isUnavailable, Ledger } from './ledger.ts';

/** The account and applications of the load, created before any fault. */
export interface Stage {
  readonly server: TestServer;
  readonly world: World;
  readonly application: SeededApplication;
  readonly apiKey: string;
}

const mintedKeys = z.object({ keys: z.array(z.object({ licenseKey: z.string() })) });
const shownApiKey = z.object({ key: z.object({ apiKey: z.string() }) });
const graphqlAnswer = z.object({
  data: z.object({ me: z.object({ id: z.string() }).nullable() }).nullish(),
  errors: z.array(z.object({ extensions: z.object({ code: z.string() }) })).optional(),
});

/** The pause of a customer between two requests, in milliseconds. */
const pause = 15;

/** The results that the load produces continuously without a fault. */
const everybodysWork = [
  'validate by bound one: OK',
  'validate by bound other: OK',
  'validate by unknown: LICENSE_NOT_FOUND',
  'validate by first use: OK',
  'validate by banned: BANNED',
  'mint: done',
  'ban: done',
  'read: done',
  'login: done',
  'API key: done',
] as const;

/**
 * Concurrent customers and developers until it is stopped. Their results go into a ledger.
 */
export class Load {
  readonly ledger = new Ledger();
  readonly #stage: Stage;
  /** Bound to `device` and cached before the load starts. */
  readonly #bound: readonly SeededLicense[];
  readonly #unused: SeededLicense[];
  readonly #used: SeededLicense[] = [];
  /** Ids of licenses whose ban was acknowledged. */
  readonly #banned = new Set<string>();
  /** Bans that were not acknowledged, so that their result is unknown. */
  readonly #ambiguous = new Set<string>();
  readonly #sessions = new Map<string, SealedSession>();

  readonly #ended = new AbortController();
  #actors: Promise<void>[] = [];

  private constructor(stage: Stage, bound: SeededLicense[], unused: SeededLicense[]) {
    this.#stage = stage;
    this.#bound = bound;
    this.#unused = unused;
  }

  static async start(stage: Stage): Promise<Load> {
    const bound = await stage.application.mint({ amount: 8 });
    const load = new Load(stage, bound, await stage.application.mint({ amount: 400 }));
    const validateAll = async () => {
      for (const { licenseKey } of bound) await load.validate('start', licenseKey, 'device');
    };
    // The first request binds the license. That invalidates its cache entry, once more when the change is read from the
    // database. After that, it stays cached.
    await validateAll();
    await untilChangesAreHeard(stage.server);
    await validateAll();
    load.#run();
    return load;
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#actors);
  }

  #run(): void {
    const again = async (act: (turn: number) => Promise<unknown>) => {
      for (let turn = 0; !this.#ended.signal.aborted; turn++) {
        await act(turn).catch((error: unknown) => this.ledger.violations.push(String(error)));
        await sleep(pause);
      }
    };
    this.#actors = [
      again((turn) => this.#validateBound('one', turn)),
      again((turn) => this.#validateBound('other', turn + 4)),
      again(() => this.#validateUnknown()),
      again(() => this.#useFirst()),
      again(() => this.mint()),
      again(() => this.#ban()),
      again(() => this.#validateBanned()),
      again(() => this.#read()),
      again(() => this.#logIn()),
      again(() => this.#makeApiKey()),
      again(() => this.#replay()),
      again(() => this.#control()),
    ];
  }

  /** The session of a customer; null while none can be opened. A Redis that lost its data ends all sessions. */
  async #session(who: string): Promise<SealedSession | null> {
    const known = this.#sessions.get(who);
    if (known !== undefined) return known;
    const client = new ApiClient(this.#stage.server.baseUrl);
    // Not with openSession, because that expects success.
    const probe = await this.ledger.timed('session', () =>
      client.post('/api/v1/session/init', {
        appId: this.#stage.application.id,
        clientNonceB64: randomBytes(32).toString('base64'),
        clientVersion: this.#stage.application.version,
      }),
    );
    if (!this.ledger.succeeded('session', probe, 200)) return null;
    const session = await openSession(this.#stage.server, this.#stage.application, { client }).catch(
      () => null,
    );
    if (session !== null) this.#sessions.set(who, session);
    return session;
  }

  /** Validates with a new envelope. @returns the result; null if it was refused as UNAVAILABLE */
  async validate(who: string, licenseKey: string, hwid?: string): Promise<string | null> {
    const session = await this.#session(who);
    if (session === null) return null;
    const body = session.seal(session.inner({ licenseKey, ...(hwid !== undefined && { hwid }) }));
    const envelope = { body, accepted: 0 };
    const answer = await this.ledger.timed(`validate by ${who}`, () =>
      session.client.post(validatePath, body),
    );
    this.ledger.envelopes.push(envelope);
    const code = this.#verdict(who, session, answer);
    if (code !== null) envelope.accepted += 1;
    this.ledger.count(`validate by ${who}: ${code ?? 'unavailable'}`);
    return code;
  }

  #verdict(who: string, session: SealedSession, answer: ApiAnswer): string | null {
    if (answer.status === 200) return z.string().parse(session.open(answer).code);
    if (answer.status === 401 && /SESSION_EXPIRED/.test(JSON.stringify(answer.body))) {
      this.#sessions.delete(who);
      return null;
    }
    if (!isUnavailable(answer))
      this.ledger.violations.push(`validate: ${answer.status} ${JSON.stringify(answer.body)}`);
    return null;
  }

  #expectVerdict(what: string, code: string | null, allowed: readonly string[]): void {
    if (code !== null && !allowed.includes(code)) this.ledger.violations.push(`${what} was ${code}`);
  }

  async #validateBound(who: string, turn: number): Promise<void> {
    const license = this.#bound[turn % this.#bound.length];
    if (license === undefined) return;
    const code = await this.validate(`bound ${who}`, license.licenseKey, 'device');
    this.#expectVerdict('A valid license', code, ['OK']);
  }

  async #validateUnknown(): Promise<void> {
    const code = await this.validate('unknown', `NEVER-${randomBytes(8).toString('hex')}`);
    this.#expectVerdict('An unknown license', code, ['LICENSE_NOT_FOUND']);
  }

  /** Retries with the same device until there is a result, because the first attempt may have bound the license. */
  async #useFirst(): Promise<void> {
    const license = this.#unused[0];
    if (license === undefined) return;
    const code = await this.validate('first use', license.licenseKey, `device of ${license.id}`);
    this.#expectVerdict('A first use', code, ['OK']);
    if (code === null) return;
    this.#unused.shift();
    this.#used.push(license);
  }

  async mint(): Promise<boolean> {
    const { server, application, apiKey } = this.#stage;
    const answer = await this.ledger.timed('mint', () =>
      new ApiClient(server.baseUrl, { bearer: apiKey }).post('/api/v1/licenses/create', {
        applicationId: application.id,
        amount: 2,
        durationSeconds: 0,
      }),
    );
    const minted = this.ledger.succeeded('mint', answer, 201);
    if (minted)
      this.ledger.mintedKeys.push(...mintedKeys.parse(answer.body).keys.map((key) => key.licenseKey));
    return minted;
  }

  async #ban(): Promise<void> {
    const license = this.#used.find(({ id }) => !this.#banned.has(id) && !this.#ambiguous.has(id));
    if (license === undefined) return;
    const answer = await this.ledger.timed('ban', () =>
      this.#stage.world.client.post(`/api/v1/licenses/${license.id}/ban`, {}),
    );
    if (this.ledger.succeeded('ban', answer, 200)) this.#banned.add(license.id);
    else this.#ambiguous.add(license.id);
  }

  /** Changes that were acknowledged before a request take effect in it. */
  async #validateBanned(): Promise<void> {
    const recent = this.#used.filter(({ id }) => this.#banned.has(id)).slice(-3);
    for (const { id, licenseKey } of recent) {
      const code = await this.validate('banned', licenseKey, `device of ${id}`);
      this.#expectVerdict('A banned license', code, ['BANNED']);
    }
  }

  async #read(): Promise<void> {
    const { world } = this.#stage;
    const answer = await this.ledger.timed('read', () =>
      world.client.post('/graphql', { query: '{ me { id } }' }),
    );
    if (isUnavailable(answer)) return this.ledger.count('read: unavailable');
    const { data, errors = [] } = graphqlAnswer.parse(answer.body);
    const refused = errors.every(({ extensions }) => extensions.code === 'UNAVAILABLE');
    const told = data?.me?.id === world.developer.id;
    if (!refused || (!told && errors.length === 0))
      this.ledger.violations.push(`read: ${JSON.stringify(answer.body)}`);
    this.ledger.count(`read: ${told ? 'done' : 'unavailable'}`);
  }

  async #logIn(): Promise<void> {
    const { server, world } = this.#stage;
    const { email, password } = world.developer;
    const answer = await this.ledger.timed('login', () =>
      new ApiClient(server.baseUrl).post('/api/v1/auth/login', { email, password }),
    );
    this.ledger.succeeded('login', answer, 200);
    await sleep(20 * pause);
  }

  async #makeApiKey(): Promise<void> {
    const answer = await this.ledger.timed('API key', () =>
      this.#stage.world.client.post('/api/v1/account/api-keys', { name: 'made under load' }),
    );
    if (this.ledger.succeeded('API key', answer, 201))
      this.ledger.apiKeys.push(shownApiKey.parse(answer.body).key.apiKey);
    await sleep(10 * pause);
  }

  /** An attacker who has recorded what customers sent. */
  async #replay(): Promise<void> {
    const envelope = this.ledger.envelopes.at(-1 - Math.floor(Math.random() * 50));
    if (envelope !== undefined) await this.resend(envelope);
  }

  async resend(envelope: Ledger['envelopes'][number]): Promise<void> {
    const client = new ApiClient(this.#stage.server.baseUrl);
    const answer = await this.ledger.timed('replay', () => client.post(validatePath, envelope.body));
    this.ledger.count(`replay: ${answer.status}`);
    // A sealed response is a result: the envelope was accepted as new.
    if (answer.status === 200) envelope.accepted += 1;
  }

  async #control(): Promise<void> {
    const start = performance.now();
    await new ApiClient(this.#stage.server.baseUrl).get('/health');
    this.ledger.longestControl = Math.max(this.ledger.longestControl, performance.now() - start);
  }

  /** Waits until every customer and developer has been served again. */
  async untilAllAreServed(): Promise<void> {
    const since = this.ledger.since();
    await vi.waitFor(() => expect(everybodysWork.filter((what) => since(what) === 0)).toEqual([]), {
      timeout: 40_000,
      interval: 20,
    });
  }

  /** Compares the final state with what was acknowledged, after everything has recovered. */
  async expectNothingLost(): Promise<void> {
    const { server } = this.#stage;
    const { ledger } = this;
    const ids = this.#used.map(({ id }) => id);
    const rows = await server.deps.services.database.prisma.license.findMany({
      where: { id: { in: ids } },
      select: { id: true, status: true },
    });
    const stored = new Map(rows.map(({ id, status }) => [id, status]));
    await each(ledger.mintedKeys, (key) => this.#expectFinally('A minted key', key, undefined, 'OK'));
    await each(this.#used, async ({ id, licenseKey }) => {
      const status = stored.get(id);
      const kept = this.#banned.has(id)
        ? ['banned']
        : ['active', ...(this.#ambiguous.has(id) ? ['banned'] : [])];
      if (status === undefined || !kept.includes(status))
        ledger.violations.push(`What was acknowledged was lost: a license is ${status}`);
      const verdict = status === 'banned' ? 'BANNED' : 'OK';
      await this.#expectFinally(`A license stored as ${status}`, licenseKey, `device of ${id}`, verdict);
    });
    await each(ledger.apiKeys, async (bearer) => {
      const answer = await new ApiClient(server.baseUrl, { bearer }).get('/api/v1/auth/me');
      if (answer.status !== 200) ledger.violations.push(`An API key was lost: ${answer.status}`);
    });
    await each(ledger.envelopes.slice(-150), (envelope) => this.resend(envelope));
  }

  async #expectFinally(what: string, key: string, hwid: string | undefined, expected: string) {
    const code = await this.validate('afterwards', key, hwid);
    if (code !== expected) this.ledger.violations.push(`${what} was ${code} afterwards`);
  }
}

/** Waits until the service has polled the database for changes and handled the result, which is when it polls again. */
async function untilChangesAreHeard(server: TestServer): Promise<void> {
  const { prisma } = server.deps.services.database;
  for (const _look of ['one', 'next']) {
    const [now] = await prisma.$queryRaw<{ at: string }[]>`SELECT clock_timestamp()::text AS at`;
    await vi.waitFor(
      async () => {
        const looks = await prisma.$queryRaw<unknown[]>`
          SELECT pid FROM pg_stat_activity
          WHERE application_name = 'latchkey-watch' AND query LIKE '%cache_changes%'
            AND query_start > ${now?.at}::timestamptz`;
        expect(looks).not.toEqual([]);
      },
      { timeout: 40_000, interval: 20 },
    );
  }
}

/** Splits a list into slices. */
async function each<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items];
  const work = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: 8 }, work));
}
