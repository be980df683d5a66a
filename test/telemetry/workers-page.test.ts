import { Counter, Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createWorkersPage, readRegistry } from '../../src/telemetry/workers-page.ts';
import { parsePage } from './page.ts';

/** A worker's metrics, as its supervisor receives them. */
async function worker(requests: number, waiting: number) {
  const registry = new Registry();
  new Counter({ name: 'requests_total', help: 'Requests.', registers: [registry] }).inc(requests);
  new Gauge({ name: 'waiting', help: 'Who waits.', registers: [registry] }).set(waiting);
  return readRegistry(registry);
}

const none = new Registry();

test('metrics of workers are added up', async () => {
  const pages = createWorkersPage();
  pages.report(1, await worker(3, 1));
  pages.report(2, await worker(4, 2));
  const page = parsePage(await pages.page(new Set([1, 2]), none));
  expect(page.value('requests_total')).toBe(7);
  expect(page.value('waiting')).toBe(3);
});

test('no counter decreases when a worker ends and its successor starts at zero', async () => {
  const pages = createWorkersPage();
  pages.report(1, await worker(3, 1));
  pages.report(2, await worker(4, 2));
  pages.ended(1);
  const without = parsePage(await pages.page(new Set([2]), none));
  expect(without.value('requests_total')).toBe(7);
  expect(without.value('waiting')).toBe(2);
  pages.report(3, await worker(1, 0));
  const after = parsePage(await pages.page(new Set([2, 3]), none));
  expect(after.value('requests_total')).toBe(8);
  pages.ended(2);
  pages.ended(3);
  expect(parsePage(await pages.page(new Set(), none)).value('requests_total')).toBe(8);
});

test('for a worker that does not answer, counters keep their values and gauges are omitted', async () => {
  const pages = createWorkersPage();
  pages.report(1, await worker(3, 1));
  pages.report(2, await worker(4, 2));
  const page = parsePage(await pages.page(new Set([1]), none));
  expect(page.value('requests_total')).toBe(7);
  expect(page.value('waiting')).toBe(1);
});
