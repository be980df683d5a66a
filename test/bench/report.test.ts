import { expect, test } from 'vitest';
import { signaturesEach } from './bare/signatures.ts';
import type { Block } from './block.ts';
import { callFigureNames, callFigures } from './call-figures.ts';
import { parseOptions } from './options.ts';
import type { PartFindings } from './part.ts';
import { toReport } from './report.ts';
import type { ComparedFigure } from './scenario.ts';
import { callNames } from './scenarios/calls.ts';
import { junkNames } from './scenarios/junk-calls.ts';
import { loginNames } from './scenarios/login.ts';
import { sessionNames } from './scenarios/session-init.ts';
import { validateNames } from './scenarios/validate.ts';
import { formatReport } from './table.ts';
import { isMet, targets } from './targets.ts';

const options = parseOptions([], {});
if (options === null) throw new Error('The options ask for help');

const block = (requests: number, cpuSeconds: number, latencies: readonly number[] = [1]): Block => ({
  requests,
  seconds: 2,
  cpuSeconds,
  mainThreadSeconds: cpuSeconds / 2,
  latencies,
});

const found = (parts: Partial<PartFindings>): PartFindings => ({
  measured: [],
  refused: [],
  comparisons: [],
  figures: [],
  ...parts,
});

/** A service of 800 and 900 requests a CPU-second beside a bare program of 1000 in both rounds. */
const validation = found({
  measured: [
    { name: validateNames.service, blocks: [block(800, 1, [2, 2, 2]), block(1800, 2, [4, 4, 4])] },
    { name: validateNames.bare, blocks: [block(1000, 1), block(1000, 1)] },
  ],
});
const comparedBy = (of: ComparedFigure): PartFindings => ({
  ...validation,
  comparisons: [{ measured: validateNames.service, against: validateNames.bare, of }],
});

test.each([
  ['rate', [0.8, 0.9]],
  ['cost', [1 / 0.9, 1 / 0.8]],
  ['mainThreadRate', [0.8, 0.9]],
  ['throughput', [0.8, 1.8]],
  ['p50', [2, 4]],
] as const)('scenarios are compared by their %s in the blocks of one round', (of, [least, most]) => {
  const { ratios } = toReport(options, [comparedBy(of)]);
  expect(ratios).toHaveLength(1);
  expect(ratios[0]?.least).toBeCloseTo(least);
  expect(ratios[0]?.most).toBeCloseTo(most);
  expect(ratios[0]?.median).toBeCloseTo((least + most) / 2);
});

test('a scenario is reported over all of its blocks', () => {
  const [service] = toReport(options, [validation]).scenarios;
  expect(service).toMatchObject({
    name: validateNames.service,
    requests: 2600,
    requestsPerSecond: 650,
    p50Milliseconds: 2,
    p99Milliseconds: 4,
  });
  expect(service?.requestsPerCpuSecond).toBeCloseTo(2600 / 3);
  expect(service?.cpuMicrosecondsPerRequest).toBeCloseTo((3 / 2600) * 1e6);
  expect(service?.mainThreadMicrosecondsPerRequest).toBeCloseTo((1.5 / 2600) * 1e6);
});

test('nothing is compared with what was not measured, or with no countable time', () => {
  const compared = comparedBy('rate');
  const [service] = compared.measured;
  expect(toReport(options, [{ ...compared, measured: service ? [service] : [] }]).ratios).toEqual([]);
  const idle = { name: validateNames.bare, blocks: [block(1000, 0), block(1000, 0)] };
  expect(toReport(options, [{ ...compared, measured: service ? [service, idle] : [] }]).ratios).toEqual([]);
});

const validateTargetsOf = (databaseUrl: string | null) =>
  toReport({ ...options, databaseUrl }, [comparedBy('rate')]).targets.filter(({ what }) =>
    what.startsWith('sealed validate'),
  );

test('the goal of validate is that of the database, and is met or not', () => {
  const [embedded, ...noOther] = validateTargetsOf(null);
  expect(noOther).toEqual([]);
  expect(embedded).toMatchObject({ goal: { atLeast: 0.75 }, isMet: true });
  expect(embedded?.reached).toBeCloseTo(0.85);
  expect(validateTargetsOf('postgresql://a/b')).toMatchObject([{ goal: { atLeast: 0.8 }, isMet: true }]);
});

test('what was not measured is neither reached nor missed', () => {
  const { targets: none } = toReport(options, []);
  expect(none.length).toBeGreaterThan(10);
  for (const target of none) expect(target).toMatchObject({ reached: null, isMet: null });
});

test('a latency that is too long is said to be', () => {
  const beside = { name: loginNames.beside, blocks: [block(100, 1, [26])] };
  const report = toReport(options, [found({ measured: [beside] })]);
  expect(report.targets).toContainEqual(
    expect.objectContaining({ goal: { atMost: 25 }, reached: 26, unit: 'ms', isMet: false }),
  );
  expect(formatReport(report)).toMatch(
    /validate, p99 while 8 logins run at once +at most 25\.00 +26\.00 ms +no/,
  );
});

/** Scenarios with one block in each of two rounds: CPU microseconds of a request. */
const measuredOf = (costs: Readonly<Record<string, readonly [number, number]>>) =>
  Object.entries(costs).map(([name, each]) => ({
    name,
    blocks: each.map((cost) => block(1000, cost / 1000)),
  }));

const junk = measuredOf({
  [junkNames.junk]: [200, 160],
  [junkNames.malformed]: [80, 40],
  [junkNames.signatures]: [40 * signaturesEach, 80 * signaturesEach],
});

test('a junk call is stated in signatures of its round: all of it, and beyond the cheapest refused call', () => {
  const figures = callFigures(junk);
  const of = (name: string) => figures.find((figure) => figure.name === name);
  const [all, beyond] = [of(callFigureNames.junk), of(callFigureNames.junkBeyondHttp)];
  expect([all?.least, all?.most]).toEqual([expect.closeTo(2), expect.closeTo(5)]);
  expect([beyond?.least, beyond?.value, beyond?.most]).toEqual([
    expect.closeTo(1.5),
    expect.closeTo(2.25),
    expect.closeTo(3),
  ]);
  expect(of(callFigureNames.signature)).toMatchObject({ unit: 'µs', value: expect.closeTo(60) });
  expect(toReport(options, [found({ figures })]).targets).toContainEqual(
    expect.objectContaining({ goal: { atMost: 2.5 }, reached: beyond?.value, isMet: true }),
  );
});

test('a program start of version 1 is two requests, to one of version 2', () => {
  const [figure, ...more] = callFigures(
    measuredOf({
      [sessionNames.service]: [60, 60],
      [validateNames.service]: [60, 60],
      [callNames.service]: [100, 200],
    }),
  );
  expect(more).toEqual([]);
  expect(figure).toMatchObject({
    name: callFigureNames.programStart,
    least: expect.closeTo(0.6),
    most: expect.closeTo(1.2),
  });
});

test('a figure of several scenarios needs all of them', () => {
  for (const { name } of junk) {
    const figures = callFigures(junk.filter((each) => each.name !== name)).map((figure) => figure.name);
    expect(figures).not.toContain(callFigureNames.junkBeyondHttp);
  }
  expect(callFigures([])).toEqual([]);
});

test('a goal holds at its limit and not beyond', () => {
  expect([isMet(0.8, { atLeast: 0.8 }), isMet(0.79, { atLeast: 0.8 })]).toEqual([true, false]);
  expect([isMet(25, { atMost: 25 }), isMet(25.01, { atMost: 25 })]).toEqual([true, false]);
});

test('the table names every scenario, figure and target', () => {
  const figures = [{ name: 'keys', unit: 's', value: 0.25, least: 0.2, most: 1 }] as const;
  const refused = [{ name: 'GraphQL: screen', fault: 'no page' }];
  const report = toReport(options, [comparedBy('rate'), found({ figures, refused })]);
  const table = formatReport(report);
  const shown = [validateNames.service, 'Not measured: GraphQL: screen\n  no page'];
  const known = targets.filter(({ database }) => database !== 'server').map(({ what }) => what);
  for (const text of [...shown, ...known]) expect(table).toContain(text);
  expect(table).toMatch(/keys +s +0\.25 +0\.20 +1\.00/);
  expect(table).toContain('not measured');
});
