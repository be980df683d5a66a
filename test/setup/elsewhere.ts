import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A program with its own host name and pid namespace, as in another container that shares a volume with this one: neither
 * can see whether the other is alive.
 */
const unshare = ['--uts', '--pid', '--mount-proc', '--fork', '--kill-child'];

/** Whether a test can run commands there: it needs root, on Linux. */
export const hasElsewhere = spawnSync('unshare', [...unshare, 'true'], { timeout: 10_000 }).status === 0;
if (!hasElsewhere) {
  process.stderr.write(
    'Skipped: what another container does to the same directory (unshare is not permitted).\n',
  );
}

/** The command that runs a command there. */
export const elsewhere = (command: readonly string[]): readonly [string, ...string[]] => [
  'unshare',
  ...unshare,
  'sh',
  '-c',
  'hostname elsewhere; exec "$@"',
  'sh',
  ...command,
];

/** The process that {@link elsewhere}'s command has become, as it is numbered here. */
export function innerPid(outerPid: number): number {
  const children = readFileSync(`/proc/${outerPid}/task/${outerPid}/children`, 'utf8');
  return Number(children.trim().split(' ')[0]);
}
