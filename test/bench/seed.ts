import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Client, type ClientOptions, createClient } from '../../src/sdk/index.ts';
import { createVendor, type Vendor } from './vendor.ts';

/** What scenarios ask about: a vendor's account, filled through the public API alone. */
export interface Seed {
  readonly vendor: Vendor;
  readonly apiKey: string;
  /** The application with the licenses. */
  readonly applicationId: string;
  /** What the application's programs are built with. */
  readonly client: ClientOptions;
  /** Licenses of the application that are bound to a device each, and do not end while it runs. */
  readonly bound: readonly BoundLicense[];
  /** End users of the application, whose names are of one length. */
  readonly customers: readonly Customer[];
  /** Another application, to mint licenses of that no list is to show. */
  readonly mintApplicationId: string;
}

export interface BoundLicense {
  readonly licenseKey: string;
  readonly hwid: string;
}

/**
 * Licenses of the application; as many of its newest as a page has are in use, each by an end user of its own. Others are
 * bound to a device, without an account.
 */
export const seedSize = {
  licenses: 1000,
  bound: 100,
  inUse: 50,
  validationsEach: 2,
  otherApplications: 2,
} as const;

/** Of every end user. */
export const customerPassword = 'correct horse battery';

const created = z.object({
  application: z.object({ id: z.string() }),
  sdkHint: z.object({
    baseUrl: z.string(),
    appId: z.string(),
    version: z.string(),
    publicKeyB64: z.string(),
  }),
});
const minted = z.object({ keys: z.array(z.object({ licenseKey: z.string() })) });

/** Fills an empty service. @throws {Error} when it refuses any of it */
export async function seed(baseUrl: string): Promise<Seed> {
  const vendor = await createVendor(baseUrl);
  const others: string[] = [];
  for (let count = 0; count < seedSize.otherApplications; count += 1) {
    const other = await createApplication(vendor, `Earlier program ${count + 1}`);
    await mint(vendor, other.application.id, 20);
    others.push(other.application.id);
  }
  const { application, sdkHint } = await createApplication(vendor, 'Photo Lab');
  await vendor.patch(`/api/v1/apps/${application.id}/settings`, { leasesEnabled: true });
  const older = await mint(vendor, application.id, seedSize.licenses - seedSize.inUse);
  const inUse = await mint(vendor, application.id, seedSize.inUse);
  const client = { ...sdkHint, protocol: 1 as const, timeoutMs: 60_000, fetch: persistentFetch };
  const program = createClient(client);
  const bound = older.slice(0, seedSize.bound).map((licenseKey, index) => ({
    licenseKey,
    hwid: `device-${String(index).padStart(6, '0')}`,
  }));
  await eachOf(bound, async ({ licenseKey, hwid }) => {
    await expectValid(() => program.validate(licenseKey, { hwid }));
  });
  const customers = inUse.map((licenseKey, index) => ({ licenseKey, ...customer(index) }));
  await eachOf(customers, (each) => use(program, each.licenseKey, each));
  await untilLogged(vendor, application.id);
  return {
    vendor,
    apiKey: vendor.apiKey,
    applicationId: application.id,
    client,
    bound,
    customers,
    mintApplicationId: others[0] ?? application.id,
  };
}

/**
 * Sends again what met a connection that the service was just closing as idle: on a busy machine many are. What did
 * arrive is not done twice, as the service takes each sealed request once.
 */
const persistentFetch: typeof fetch = (...request) => fetch(...request).catch(() => fetch(...request));

const createApplication = (vendor: Vendor, name: string) =>
  vendor.post('/api/v1/apps/create', { name }, created);

async function mint(vendor: Vendor, applicationId: string, amount: number): Promise<string[]> {
  const input = { applicationId, amount, durationSeconds: 30 * 86_400, note: 'Autumn sale' };
  const { keys } = await vendor.post('/api/v1/licenses/create', input, minted);
  return keys.map(({ licenseKey }) => licenseKey);
}

/** A few at a time: a busy machine takes its time to hash passwords and to write first uses. */
const atOnce = 8;

async function eachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

interface Customer {
  readonly username: string;
  readonly hwid: string;
}

function customer(index: number): Customer {
  const number = String(index + 1).padStart(2, '0');
  return { username: `customer-${number}`, hwid: `workstation-${number}` };
}

/** A customer registers with the license, and starts the program a few times on the one device. */
async function use(program: Client, licenseKey: string, { username, hwid }: Customer): Promise<void> {
  const credentials = { username, email: `${username}@example.com`, password: customerPassword };
  await expectValid(() => program.register({ ...credentials, licenseKey, hwid }));
  for (let count = 0; count < seedSize.validationsEach; count += 1) {
    await expectValid(() => program.validate(licenseKey, { hwid }));
  }
}

type Outcome = Awaited<ReturnType<Client['validate'] | Client['register']>>;

/** How often a program asks again when the service says that it cannot answer now, each half a second later. */
const moreTries = 20;

async function expectValid(ask: () => Promise<Outcome>): Promise<void> {
  let outcome = await ask();
  for (let left = moreTries; left > 0 && isUnavailable(outcome); left -= 1) {
    await sleep(500);
    outcome = await ask();
  }
  if (outcome.kind !== 'verdict' || !outcome.valid)
    throw new Error(`The service refused a customer: ${JSON.stringify(outcome)}`);
}

const isUnavailable = (outcome: Outcome): boolean =>
  outcome.kind === 'failure' && outcome.reason === 'unavailable';

const logPage = z.object({ logs: z.array(z.object({ event: z.string() })) });

/** The log is written behind; a run is to find all of it, and none of the writing. */
async function untilLogged(vendor: Vendor, applicationId: string): Promise<void> {
  const expected = seedSize.inUse * seedSize.validationsEach;
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; await sleep(100)) {
    const { logs } = await vendor.get(`/api/v1/apps/${applicationId}/logs?limit=200`, logPage);
    if (logs.filter(({ event }) => event === 'license_validated').length >= expected) return;
  }
  throw new Error('The service did not write its log within 30 s');
}
