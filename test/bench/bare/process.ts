import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endProcess } from '../end-process.ts';
import type { MeasuredProcess } from '../service.ts';
import type { Undo } from '../undo.ts';
import type { BareMaterial } from './material.ts';

const program = fileURLToPath(new URL('main.ts', import.meta.url));

/** Starts the bare program on a free port of this machine; `undo` stops it. @throws {Error} when it ends instead */
export async function startBare(material: BareMaterial, undo: Undo): Promise<MeasuredProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', program], {
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  undo.add(() => endProcess(child));
  process.on('exit', () => child.kill('SIGKILL'));
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors = (errors + String(chunk)).slice(-20_000);
  });
  child.stdin.end(JSON.stringify(material));
  const port = await Promise.race([
    once(child.stdout, 'data').then(([chunk]) => Number(String(chunk))),
    once(child, 'exit').then(() => Promise.reject(new Error(`The bare program ended:\n${errors}`))),
  ]);
  if (child.pid === undefined) throw new Error('The bare program did not start');
  return { port, pid: child.pid, output: () => errors };
}
