import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';

/** Debian installs them in a folder that is only in root's PATH. */
export const proxyEnv = { ...process.env, PATH: `${process.env.PATH ?? ''}${delimiter}/usr/sbin` };

const runs = (program: string): boolean => spawnSync(program, ['-v'], { env: proxyEnv }).status === 0;

/** Whether there is an HAProxy to start. */
export const hasHaproxy = runs('haproxy');
/** Whether there is an nginx to start. */
export const hasNginx = runs('nginx');
