import { Socket } from 'node:net';
import type { Config } from '../config.ts';
import type { Logger } from '../lib/log.ts';
import { type HandedServer, startHandedServer } from '../server.ts';
import { createGracefulShutdown } from './graceful-shutdown.ts';
import { type ToSupervisor, toWorker } from './messages.ts';
import { describeStartFailure } from './start-failure.ts';
import { onStopSignal } from './stop-signal.ts';
import { handleUncaughtErrors } from './uncaught-errors.ts';

const say = (message: ToSupervisor, then: () => void = () => {}): void => void process.send?.(message, then);

/**
 * Serves connections from the supervisor until the supervisor sends `stop` or ends. A failed start is reported to the
 * supervisor, which shows the operator one message for all workers.
 */
export async function work(config: Config, log: Logger): Promise<void> {
  try {
    await serve(config, log);
  } catch (error) {
    say({ failed: describeStartFailure(error) }, () => process.exit(1));
  }
}

async function serve(config: Config, log: Logger): Promise<void> {
  const server = await startHandedServer(config, { log, onFatal: () => process.exit(1) });
  const end = createGracefulShutdown({ close: server.close, log, shutdownSeconds: config.shutdownSeconds });
  handleUncaughtErrors(log, () => end('uncaughtException', 1));
  process.on('message', (received, connection) => {
    const message = toWorker.parse(received);
    if (message === 'stop') return end('stop');
    if (message !== 'connection') return void tellMetrics(server, message.metrics);
    // Sent before the first read: if this process dies, another worker serves connections that were not taken.
    say('taken');
    // There is no socket if its client has disconnected in between.
    if (connection instanceof Socket) server.take(connection);
  });
  process.on('disconnect', () => end('disconnect'));
  // The supervisor first stops sending connections, then sends `stop`.
  onStopSignal((signal) => (process.connected ? say('leaving') : end(signal)));
  if (process.connected) say('ready');
  else end('disconnect');
}

async function tellMetrics(server: Pick<HandedServer, 'metrics'>, number: number): Promise<void> {
  const families = await server.metrics();
  if (process.connected) say({ metrics: number, families });
}
