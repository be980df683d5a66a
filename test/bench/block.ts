import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, openConnection } from './connection.ts';
import { cpuTimeOf } from './cpu-time.ts';
import type { HttpAnswer, HttpRequest } from './http-message.ts';
import type { Scenario, Target } from './scenario.ts';
import type { MeasuredProcess } from './service.ts';

/** What one block of one scenario came to. */
export interface Block {
  readonly requests: number;
  readonly seconds: number;
  /** CPU time of the program that was asked. */
  readonly cpuSeconds: number;
  /** CPU time of its main thread, which is a part of that. */
  readonly mainThreadSeconds: number;
  /** How long each answer took, in milliseconds. */
  readonly latencies: readonly number[];
}

export interface BlockOptions {
  readonly targets: Readonly<Partial<Record<Target, MeasuredProcess>>>;
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** The program that a scenario asks. @throws {Error} when the run has not started it */
export function targetOf({ name, target = 'service' }: Scenario, targets: BlockOptions['targets']) {
  const found = targets[target];
  if (found === undefined) throw new Error(`${name} asks a program that was not started: ${target}`);
  return found;
}

/**
 * Drives a scenario over so many connections at once, each asking again as soon as it is answered. Every request that
 * was begun is answered, and what the program does behind its answers (the service writes its log so) is done before
 * the CPU time is read: all of a block's work is counted, and none of it in the next block.
 * @throws {Error} at the first answer that is not right
 */
export async function runBlock(scenario: Scenario, options: BlockOptions): Promise<Block> {
  const { signal } = options;
  const { port, pid } = targetOf(scenario, options.targets);
  const { beside } = scenario;
  const connections = await openConnections(port, scenario.connections ?? options.connections);
  const others = await openConnections(port, beside?.connections ?? 0);
  try {
    const before = cpuTimeOf(pid);
    const begin = performance.now();
    const end = { deadline: begin + options.seconds * 1000, signal };
    const [{ latencies, last }] = await Promise.all([
      drive(scenario, connections, end),
      beside === undefined ? null : drive(beside.scenario, others, end),
    ]);
    const seconds = (performance.now() - begin) / 1000;
    await untilIdle(pid, signal);
    const after = cpuTimeOf(pid);
    if (scenario.isCheckedInBlocks === true) requireFaultless(scenario, last);
    return {
      requests: latencies.length,
      seconds,
      cpuSeconds: after.all - before.all,
      mainThreadSeconds: after.mainThread - before.mainThread,
      latencies,
    };
  } finally {
    for (const connection of [...connections, ...others]) connection.close();
  }
}

const openConnections = (port: number, amount: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: amount }, () => openConnection(port)));

/** The service's log is written at most 250 ms behind; a database that is slower than that is waited for. */
const quietMilliseconds = 300;
const idleLimitMilliseconds = 10_000;
/** What a program that has nothing to do may use meanwhile: a tick of the clock that counts its CPU time, or two. */
const idleCpuSeconds = 0.025;

async function untilIdle(pid: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + idleLimitMilliseconds;
  for (let before = cpuTimeOf(pid).all; performance.now() < deadline; ) {
    await sleep(quietMilliseconds, undefined, { signal });
    const now = cpuTimeOf(pid).all;
    if (now - before <= idleCpuSeconds) return;
    before = now;
  }
}

interface End {
  readonly deadline: number;
  readonly signal: AbortSignal;
}

interface Exchange {
  readonly request: HttpRequest;
  readonly answer: HttpAnswer;
}

/** Asks over these connections until the end. @returns how long each answer took, in ms, and the last of each connection */
async function drive(scenario: Scenario, connections: readonly Connection[], end: End) {
  const latencies: number[] = [];
  const last = await Promise.all(
    connections.map((connection) => askUntil(connection, { scenario, latencies, ...end })),
  );
  return { latencies, last };
}

/** @throws {Error} at the first answer that is not right when it is looked at closely */
function requireFaultless(scenario: Scenario, exchanges: readonly Exchange[]): void {
  for (const { request, answer } of exchanges) {
    const fault = scenario.closeFaultOf(answer, request);
    if (fault !== null) throw new Error(`${scenario.name}: ${fault}`);
  }
}

interface Work extends End {
  readonly scenario: Scenario;
  readonly latencies: number[];
}

async function askUntil(
  connection: Connection,
  { scenario, latencies, deadline, signal }: Work,
): Promise<Exchange> {
  for (;;) {
    signal.throwIfAborted();
    const request = scenario.next();
    const begin = performance.now();
    const answer = await connection.ask(request).catch((error: unknown) => {
      throw new Error(`${scenario.name}: no answer: ${error instanceof Error ? error.message : error}`);
    });
    latencies.push(performance.now() - begin);
    const fault = scenario.faultOf(answer);
    if (fault !== null) throw new Error(`${scenario.name}: ${fault}`);
    if (scenario.pauseMilliseconds !== undefined) await sleep(scenario.pauseMilliseconds);
    if (performance.now() >= deadline) return { request, answer };
  }
}
