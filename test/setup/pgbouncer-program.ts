import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';

/** Debian installs it in a folder that is only in root's PATH. */
export const pgbouncerEnv = { ...process.env, PATH: `${process.env.PATH ?? ''}${delimiter}/usr/sbin` };

/** Whether there is a PgBouncer to start. */
export const hasPgbouncer = spawnSync('pgbouncer', ['--version'], { env: pgbouncerEnv }).status === 0;
