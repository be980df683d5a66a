import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { z } from 'zod';
import { loadConfig } from '../config.ts';
import { type Client, createClient, type ValidateOutcome } from '../sdk/index.ts';
import { startServer } from '../server.ts';

/**
 * Runs through everything from a vendor's registration to a refused customer, on a server in memory and through its public
 * interfaces only. The process exits with 1 if a step has another result than expected.
 */
async function runDemo(baseUrl: string): Promise<void> {
  const vendor = createVendor(baseUrl);

  step('A vendor registers, over GraphQL');
  const registered = await vendor.ask(
    `mutation ($input: RegisterInput!) { register(input: $input) { developer { name email } } }`,
    { email: 'ada@example.com', password: 'correct horse battery staple', name: 'Ada' },
    z.object({ register: z.object({ developer: z.object({ name: z.string(), email: z.string() }) }) }),
  );
  say(
    `${registered.register.developer.name} <${registered.register.developer.email}> is logged in by cookie.`,
  );

  step('The vendor creates an application, which gets its own signing key');
  const { createApplication } = await vendor.ask(
    `mutation ($input: CreateApplicationInput!) {
      createApplication(input: $input) { application { id name } sdkHint { baseUrl appId version publicKeyB64 } }
    }`,
    { name: 'Photo Lab' },
    z.object({
      createApplication: z.object({
        application: z.object({ id: z.string(), name: z.string() }),
        sdkHint: z.object({
          baseUrl: z.string(),
          appId: z.string(),
          version: z.string(),
          publicKeyB64: z.string(),
        }),
      }),
    }),
  );
  const { application, sdkHint } = createApplication;
  say(`${application.name} has id ${application.id}`);
  say(`and public key ${sdkHint.publicKeyB64}, which the vendor builds into the program.`);

  step('The vendor creates two license keys: 30 days each, tier 2');
  const { createLicenses } = await vendor.ask(
    `mutation ($input: CreateLicensesInput!) { createLicenses(input: $input) { keys { id licenseKey } warning } }`,
    { applicationId: application.id, amount: 2, durationSeconds: 30 * 24 * 60 * 60, subscriptionTier: 2 },
    z.object({
      createLicenses: z.object({
        keys: z.array(z.object({ id: z.string(), licenseKey: z.string() })).length(2),
        warning: z.string(),
      }),
    }),
  );
  for (const { licenseKey } of createLicenses.keys) say(licenseKey);
  say(createLicenses.warning);
  const sold = required(createLicenses.keys[0]);

  step('A customer starts the program, which validates the key with the SDK');
  const program = createClient({ ...sdkHint, store: null });
  const first = expectVerdict(await program.validate(sold.licenseKey, { hwid: 'customer-laptop' }), 'OK');
  say(`It runs, at tier ${first.valid ? first.subscriptionTier : '?'}, until ${until(first)}.`);
  say('The license is now bound to customer-laptop.');

  step('The customer starts it again on the same device');
  expectVerdict(await program.validate(sold.licenseKey, { hwid: 'customer-laptop' }), 'OK');
  say('It runs.');

  step('A friend tries the key on another device');
  await refused(program, sold.licenseKey, 'friends-desktop', 'HWID_MISMATCH');

  step('Someone makes up a key');
  await refused(program, 'AAAAA-BBBBB-CCCCC-DDDDD-EEEEE', 'friends-desktop', 'LICENSE_NOT_FOUND');

  step('The vendor bans the license');
  const { banLicense } = await vendor.ask(
    `mutation ($input: BanLicenseInput!) { banLicense(input: $input) { license { status } } }`,
    { id: sold.id, scope: 'license' },
    z.object({ banLicense: z.object({ license: z.object({ status: z.literal('banned') }) }) }),
  );
  say(`Its status is ${banLicense.license.status}.`);

  step('The customer starts the program again');
  await refused(program, sold.licenseKey, 'customer-laptop', 'BANNED');
}

/** A dashboard front end: GraphQL with a cookie. */
function createVendor(baseUrl: string) {
  let cookie = '';
  return {
    async ask<Data extends z.ZodType>(query: string, input: object, data: Data): Promise<z.output<Data>> {
      const response = await fetch(`${baseUrl}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Cookie: cookie },
        body: JSON.stringify({ query, variables: { input } }),
      });
      cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
      const body: unknown = await response.json();
      const answer = data.safeParse(z.object({ data: z.unknown() }).safeParse(body).data?.data);
      if (!answer.success) throw new Error(`The server answered ${JSON.stringify(body)}`);
      return answer.data;
    },
  };
}

type Verdict = Extract<ValidateOutcome, { kind: 'verdict' }>;

function expectVerdict(outcome: ValidateOutcome, code: string): Verdict {
  if (outcome.kind === 'verdict' && outcome.code === code) return outcome;
  throw new Error(`Expected the verdict ${code}, but the SDK returned ${JSON.stringify(outcome)}`);
}

async function refused(program: Client, licenseKey: string, hwid: string, code: string): Promise<void> {
  const { message } = expectVerdict(await program.validate(licenseKey, { hwid }), code);
  say(`Refused, signed by the server: ${code}, "${message}"`);
}

const until = (verdict: Verdict): string =>
  verdict.valid ? (verdict.expiresAt?.toISOString().slice(0, 10) ?? 'forever') : 'never';

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('The server returned fewer keys than requested');
  return value;
}

let steps = 0;
const step = (title: string): void => write(`\n${++steps}. ${title}`);
const say = (line: string): void => write(`   ${line}`);
const write = (line: string): void => void process.stdout.write(`${line}\n`);

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

const port = await freePort();
const config = loadConfig({ DATA_DIR: 'memory:', PORT: String(port), LOG_LEVEL: 'error' });
write(`Starting Latchkey in memory at ${config.publicUrl} …`);
const server = await startServer(config);
try {
  await runDemo(server.url);
  write('\nEvery step succeeded.');
} catch (error) {
  write(`\nThis step failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await server.close();
}
