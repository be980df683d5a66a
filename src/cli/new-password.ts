import { addAbortSignal } from 'node:stream';
import { password as askHidden, isCancel } from '@clack/prompts';
import type { z } from 'zod';
import { newDeveloper } from '../services/auth/fields.ts';
import { CommandError } from './failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * Returns validated account fields.
 * @param refusal start of the error message, such as `The account cannot be created`
 * @throws {CommandError} listing every invalid field
 */
export function checkAccount<Value>(parsed: z.ZodSafeParseResult<Value>, refusal: string): Value {
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `the ${path.join('.')}: ${message}`);
  throw new CommandError(`${refusal}; ${problems.join('; ')}.`);
}

/**
 * Reads a developer's new password: one line of standard input, or typed twice at a terminal.
 * @param refusal as for `checkAccount`
 * @throws {CommandError} when there is no terminal, or the password is invalid
 */
export async function receivePassword(
  terminal: Terminal,
  { isOnStdin, refusal }: { readonly isOnStdin: boolean; readonly refusal: string },
): Promise<string> {
  const check = (password: string) =>
    checkAccount(newDeveloper.pick({ password: true }).safeParse({ password }), refusal).password;
  if (isOnStdin) return check(await readLine(terminal));
  if (terminal.stdin.isTTY !== true) {
    throw new CommandError(
      'Standard input is not a terminal: send the password on standard input with --password-stdin.',
    );
  }
  const first = check(await ask(terminal, 'Password (12 to 128 characters)'));
  if ((await ask(terminal, 'Repeat the password')) !== first) {
    throw new CommandError('The two passwords are not the same. Nothing was changed.');
  }
  return first;
}

/** Reads one line. The line end is not part of the password. */
async function readLine({ stdin, signal }: Terminal): Promise<string> {
  let text = '';
  // The sender may send nothing and never close the stream.
  addAbortSignal(signal, stdin);
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > 4096) break;
  }
  const password = text.replace(/\r?\n$/, '');
  if (password.includes('\n')) {
    throw new CommandError('Standard input has more than one line: send only the password.');
  }
  return password;
}

async function ask({ stdin, stderr, signal }: Terminal, message: string): Promise<string> {
  // An empty mask hides the length of the password too.
  const answer = await askHidden({ message, mask: '', input: stdin, output: stderr, signal });
  if (isCancel(answer)) throw new CommandError('Cancelled. Nothing was changed.');
  return answer;
}
