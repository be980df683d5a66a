import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';

/** Standard input that is a terminal, at which these lines are typed once each is asked for. */
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
