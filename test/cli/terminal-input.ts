import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';

/** Standard input from a terminal: it enters each of these lines when prompted. */
export function terminalInput(...lines: string[]): PassThrough {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const type = () => {
    const line = lines.shift();
    if (line !== undefined) input.write(`${line}\r`);
  };
  const timer = setInterval(type, 200);
  onTestFinished(() => clearInterval(timer));
  return input;
}
