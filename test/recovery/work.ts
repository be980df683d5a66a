import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { systemClock } from '../../src/lib/clock.ts';
import { isUnavailable } from '../faults/ledger.ts';
import { type ApiAnswer, ApiClient } from '../setup/api-client.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import type { SeededApplication } from '../setup/world.ts';
import type { Journal, MintedKey } from './journal.ts';

export const keysABatch = 10;
export const registerPath = '/api/v1/client/register';
export const password = 'a password of a customer';

const mintedKeys = z.object({ keys: z.array(z.object({ id: z.string(), licenseKey: z.string() })) });
const shownApiKey = z.object({ key: z.object({ id: z.string(), apiKey: z.string() }) });

const pauseMilliseconds = 5;
const pauseAfterFailureMilliseconds = 50;

/** What outlives every service process. */
export interface Stage {
  readonly journal: Journal;
  readonly application: SeededApplication;
  /** An API key of the developer. */
  readonly vendorKey: string;
}

/** Concurrent developers and customers of a service. Acknowledged requests go into the journal. */
export class Work {
  readonly #journal: Journal;
  readonly #application: SeededApplication;
  readonly #vendor: ApiClient;
  readonly #baseUrl: string;
  readonly #ended = new AbortController();
  #actors: Promise<void>[] = [];
  #session: SealedSession | null = null;

  constructor(baseUrl: string, { journal, application, vendorKey }: Stage) {
    this.#baseUrl = baseUrl;
    this.#journal = journal;
    this.#application = application;
    this.#vendor = new ApiClient(baseUrl, { bearer: vendorKey });
  }

  begin(): void {
    const again = async (act: () => Promise<boolean>) => {
      while (!this.#ended.signal.aborted) {
        const done = await act();
        await sleep(done ? pauseMilliseconds : pauseAfterFailureMilliseconds);
      }
    };
    this.#actors = [
      again(() => this.#mint()),
      again(() => this.#use()),
      again(() => this.#use()),
      again(() => this.#ban()),
      again(() => this.#register()),
      again(() => this.#makeApiKey()),
      again(() => this.#revokeApiKey()),
      again(() => this.#change()),
      again(() => this.#list()),
    ];
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#actors);
  }

  /** Sends a request; null if its result is unknown because the connection broke or the service was unavailable. */
  async #send(what: string, status: number, send: () => Promise<ApiAnswer>): Promise<ApiAnswer | null> {
    const answer = await send().catch(() => null);
    if (answer === null || isUnavailable(answer)) return null;
    if (answer.status === status) return answer;
    this.#journal.violations.push(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return null;
  }

  /** Sends a sealed request. @returns the result; null if there was none */
  async #ask(path: string, members: Record<string, unknown>): Promise<string | null> {
    const server = { baseUrl: this.#baseUrl, clock: systemClock };
    this.#session ??= await openSession(server, this.#application).catch(() => null);
    const session = this.#session;
    if (session === null) return null;
    const envelope = session.seal(session.inner(members));
    const answer = await this.#send(path, 200, () => session.client.post(path, envelope));
    if (answer === null) return null;
    if (path === validatePath) this.#journal.acceptedEnvelope = envelope;
    return String(session.open(answer).code);
  }

  async #mint(): Promise<boolean> {
    const note = randomUUID();
    this.#journal.notes.add(note);
    const answer = await this.#send('mint', 201, () =>
      this.#vendor.post('/api/v1/licenses/create', {
        applicationId: this.#application.id,
        amount: keysABatch,
        durationSeconds: 3_600,
        note,
      }),
    );
    if (answer !== null) this.#journal.minted(note, mintedKeys.parse(answer.body).keys);
    await sleep(20);
    return answer !== null;
  }

  /** Takes an unused key, which no other caller gets. */
  #take(): MintedKey | undefined {
    return this.#journal.unused.shift();
  }

  async #use(): Promise<boolean> {
    const key = this.#take();
    if (key === undefined) return false;
    const code = await this.#ask(validatePath, { licenseKey: key.licenseKey, hwid: deviceOf(key) });
    if (code === 'OK') this.#journal.bound.push(key);
    else if (code !== null) this.#journal.violations.push(`A first use was ${code}`);
    return code !== null;
  }

  async #ban(): Promise<boolean> {
    const key = this.#journal.bound.find(({ id }) => !this.#journal.banAsked.has(id));
    if (key === undefined) return false;
    this.#journal.banAsked.add(key.id);
    const path = `/api/v1/licenses/${key.id}/ban`;
    const answer = await this.#send('ban', 200, () => this.#vendor.post(path, { scope: 'hwid' }));
    if (answer !== null) this.#journal.banned.add(key.id);
    await sleep(20);
    return answer !== null;
  }

  async #register(): Promise<boolean> {
    const key = this.#take();
    if (key === undefined) return false;
    const username = randomUUID();
    const { licenseKey } = key;
    const code = await this.#ask(registerPath, { username, password, licenseKey, hwid: deviceOf(key) });
    if (code === 'OK') this.#journal.users.push({ username, hwid: deviceOf(key) });
    else if (code !== null) this.#journal.violations.push(`A registration was ${code}`);
    await sleep(50);
    return code !== null;
  }

  async #makeApiKey(): Promise<boolean> {
    const answer = await this.#send('API key', 201, () =>
      this.#vendor.post('/api/v1/account/api-keys', { name: 'made at work' }),
    );
    if (answer !== null) this.#journal.apiKeys.push(shownApiKey.parse(answer.body).key);
    await sleep(30);
    return answer !== null;
  }

  async #revokeApiKey(): Promise<boolean> {
    const key = this.#journal.apiKeys.find(
      ({ id }, place) => place % 2 === 1 && !this.#journal.revocationAsked.has(id),
    );
    if (key === undefined) return false;
    this.#journal.revocationAsked.add(key.id);
    const path = `/api/v1/account/api-keys/${key.id}/revoke`;
    const answer = await this.#send('revoke', 200, () => this.#vendor.post(path));
    if (answer !== null) this.#journal.revoked.add(key.id);
    return answer !== null;
  }

  async #change(): Promise<boolean> {
    const turn = ++this.#journal.settingAsked;
    const path = `/api/v1/apps/${this.#application.id}/settings`;
    const body = { responseMessages: { EXPIRED: `turn ${turn}` } };
    const answer = await this.#send('settings', 200, () => this.#vendor.patch(path, body));
    if (answer !== null) {
      this.#journal.settingDone = turn;
      this.#journal.settingsDone += 1;
    }
    return answer !== null;
  }

  async #list(): Promise<boolean> {
    const path = `/api/v1/apps/${this.#application.id}/licenses?limit=20`;
    return (await this.#send('list', 200, () => this.#vendor.get(path))) !== null;
  }
}

export const deviceOf = ({ id }: MintedKey): string => `device of ${id}`;
