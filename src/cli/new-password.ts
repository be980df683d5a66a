import { addAbortSignal } from 'node:stream';
import { password as askHidden, isCancel } from '@clack/prompts';
import type { z } from 'zod';
import { newDeveloper } from '../services/auth/fields.ts';
import { CommandError } from './failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * What an account is given, or everything that is wrong with it, by its option.
 * @param refusal what cannot be done with it, as `The account cannot be made`
 */
export function checkAccount<Value>(parsed: z.ZodSafeParseResult<Value>, refusal: string): Value {
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `the ${path.join('.')}: ${message}`);
  throw new CommandError(`${refusal}; ${problems.join('; ')}.`);
}

/**
 * A developer's new password: one line of standard input, or typed twice at a terminal.
 * @param refusal as `checkAccount` has it
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
      'There is no terminal to ask for the password at: send it on standard input, with --password-stdin.',
    );
  }
  const first = check(await ask(terminal, 'Password (12 to 128 characters)'));
  if ((await ask(terminal, 'The same again')) !== first) {
    throw new CommandError('The two passwords are not the same: nothing has been changed.');
  }
  return first;
}

/** One line; the line's end is no part of the password. */
async function readLine({ stdin, signal }: Terminal): Promise<string> {
  let text = '';
  // Its sender may never send it, nor close the stream.
  addAbortSignal(signal, stdin);
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > 4096) break;
  }
  const password = text.replace(/\r?\n$/, '');
  if (password.includes('\n')) {
    throw new CommandError('Standard input has more than one line: send the password alone.');
  }
  return password;
}

async function ask({ stdin, stderr, signal }: Terminal, message: string): Promise<string> {
  // No mask: not even the password's length is shown.
  const answer = await askHidden({ message, mask: '', input: stdin, output: stderr, signal });
  if (isCancel(answer)) throw new CommandError('Cancelled: nothing has been changed.');
  return answer;
}
