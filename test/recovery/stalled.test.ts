/** @module-tag slow */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/lib/clock.ts';
import { noLimits } from '../api/support.ts';
import { ApiClient } from '../setup/api-client.ts';
import { hasElsewhere } from '../setup/elsewhere.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { tally } from '../setup/tally.ts';
import { createWorld } from '../setup/world.ts';

const shownApiKey = z.object({ key: z.object({ apiKey: z.string() }) });
const minted = z.object({ keys: z.array(z.object({ licenseKey: z.string() })) });

/** Mints keys one after another until the service ends, and records those that were acknowledged. */
function mintOn(service: ServiceProcess, applicationId: string, bearer: string, acknowledged: string[]) {
  const vendor = new ApiClient(service.url, { bearer });
  const ended = new AbortController();
  const mint = async () => {
    const input = { applicationId, amount: 3, durationSeconds: 0 };
    const answer = await vendor.post('/api/v1/licenses/create', input).catch(() => null);
    if (answer?.status === 201) {
      acknowledged.push(...minted.parse(answer.body).keys.map((key) => key.licenseKey));
    }
    return answer !== null;
  };
  const work = (async () => {
    while (!ended.signal.aborted && (await mint())) {
      // The next.
    }
  })();
  return {
    stop: async () => {
      ended.abort();
      await work;
    },
    gone: work,
  };
}

test.skipIf(!hasElsewhere)(
  'a suspended service whose directory another took over ends when it resumes, and no acknowledged write is lost',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-stalled-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const env = { DATA_DIR: directory, TRUST_PROXY: '1', ...noLimits };
    const first = await startServiceProcess(env, { isElsewhere: true });
    onTestFinished(async () => void (await first.stop('SIGKILL')));
    const world = await createWorld({ baseUrl: first.url });
    const application = await world.createApplication();
    const answer = await world.client.post('/api/v1/account/api-keys', { name: 'minting' });
    const bearer = shownApiKey.parse(answer.body).key.apiKey;
    const byFirst: string[] = [];
    const bySecond: string[] = [];

    // Several concurrently, so that it is suspended at work: during statements, and between a commit and its response.
    const onFirst = Array.from({ length: 4 }, () => mintOn(first, application.id, bearer, byFirst));
    await expect.poll(() => byFirst.length, { timeout: 30_000 }).toBeGreaterThan(30);
    process.kill(first.pid, 'SIGSTOP');

    const second = await startServiceProcess(env);
    onTestFinished(async () => void (await second.stop('SIGKILL')));
    await expect
      .poll(() => second.output(), { timeout: 30_000 })
      .toMatch(/watching for 10 s.*\n.*taking it over in 8 s/);
    const onSecond = mintOn(second, application.id, bearer, bySecond);
    await expect.poll(() => bySecond.length, { timeout: 30_000 }).toBeGreaterThan(30);
    const before = byFirst.length;
    process.kill(first.pid, 'SIGCONT');
    await expect.poll(() => first.output(), { timeout: 60_000 }).toMatch(/taken over the data directory/);
    await Promise.all(onFirst.map(({ gone }) => gone));
    expect(await first.stop('SIGCONT')).toBe(1);
    // At most what it had committed before its suspension and not yet acknowledged.
    expect(byFirst.length - before).toBeLessThanOrEqual(4 * 3);

    const reached = bySecond.length;
    await expect.poll(() => bySecond.length, { timeout: 30_000 }).toBeGreaterThan(reached + 30);
    await onSecond.stop();
    expect(await second.stop()).toBe(0);
    const third = await startServiceProcess(env);
    onTestFinished(async () => void (await third.stop('SIGKILL')));
    const session = await openSession({ baseUrl: third.url, clock: systemClock }, application);
    const lost: string[] = [];
    for (const licenseKey of [...byFirst, ...bySecond]) {
      const { code } = await session.ask(validatePath, { licenseKey });
      if (code !== 'OK') lost.push(licenseKey);
    }
    expect(lost).toEqual([]);
    expect(await third.stop()).toBe(0);
    tally({ faults: 1, acknowledged: byFirst.length + bySecond.length, lost: lost.length });
  },
  300_000,
);
