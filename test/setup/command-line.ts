import { parseArgs } from 'node:util';
import { z } from 'zod';

/** What the person at the terminal has to correct. Its message is shown without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** `--name`: false when left out. */
export const flag = z.boolean().default(false);

/** `--name <text>`: null when left out. */
export const text = z.string().nullable().default(null);

/** `--name <text>`, any number of times. */
export const texts = z.array(z.string()).default([]);

/** `--name <n>`, from `least` to `most`; may be a fraction. */
export const number = (least: number, most: number) => amount(/^\d+(\.\d+)?$/, 'number', least, most);

/** `--name <n>`, from `least` to `most`. */
export const wholeNumber = (least: number, most: number) => amount(/^\d+$/, 'whole number', least, most);

function amount(pattern: RegExp, kind: string, least: number, most: number) {
  const range = most === Number.POSITIVE_INFINITY ? `of at least ${least}` : `from ${least} to ${most}`;
  return z
    .string()
    .refine((given) => pattern.test(given) && Number(given) >= least && Number(given) <= most, {
      error: `must be a ${kind} ${range}`,
    })
    .transform(Number);
}

/** `--name <url>`: the environment's value when left out, null without either. The message never repeats the URL. */
export function url(environment: string | undefined, ...schemes: readonly [string, ...string[]]) {
  const isUrl = (given: string) => URL.canParse(given) && schemes.includes(new URL(given).protocol);
  return z
    .string()
    .default(environment ?? '')
    .refine((given) => given === '' || isUrl(given), {
      error: `must be a URL that starts with ${schemes[0]}//`,
    })
    .transform((given) => (given === '' ? null : given));
}

/** The options that name servers, `--database-url` and `--redis-url`. */
export const serverUrls = (env: NodeJS.ProcessEnv) => ({
  'database-url': url(env.DATABASE_URL, 'postgresql:', 'postgres:'),
  'redis-url': url(env.REDIS_URL, 'redis:', 'rediss:'),
});

/**
 * Reads a command line.
 * @param options a schema for each option; one that accepts true is a flag, one that accepts a list may be repeated
 * @returns null when it asks for `--help`
 * @throws {UsageError} naming the option that is wrong
 */
export function readOptions<Shape extends Record<string, z.ZodType>>(
  args: readonly string[],
  options: z.ZodObject<Shape>,
): z.output<z.ZodObject<Shape>> | null {
  if (args.includes('--help')) return null;
  const known = Object.entries<z.ZodType>(options.def.shape).map(([name, schema]) => [
    name,
    {
      type: schema.safeParse(true).success ? ('boolean' as const) : ('string' as const),
      multiple: schema.safeParse([]).success,
    },
  ]);
  const parsed = options.safeParse(given(args, Object.fromEntries(known)));
  if (parsed.success) return parsed.data;
  const wrong = parsed.error.issues.map(({ path, message }) => `--${path.join('.')} ${message}`);
  throw new UsageError(wrong.join('\n'));
}

function given(args: readonly string[], options: NonNullable<Parameters<typeof parseArgs>[0]>['options']) {
  try {
    return { ...parseArgs({ args: [...args], options }).values };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Runs a program to its end and exits with the code that it answers, or 1 when it throws. */
export function runTool<Options>(program: {
  readonly help: string;
  /** Answers null for help. */
  readonly parse: (args: readonly string[], env: NodeJS.ProcessEnv) => Options | null;
  readonly run: (options: Options) => Promise<number>;
}): void {
  const main = async (): Promise<number> => {
    const options = program.parse(process.argv.slice(2), process.env);
    if (options !== null) return program.run(options);
    process.stdout.write(program.help);
    return 0;
  };
  // What was interrupted may still wait for something, so the process exits here.
  main().then(
    (code) => process.exit(code),
    (error: unknown) => {
      process.stderr.write(`${told(error)}\n`);
      process.exit(1);
    },
  );
}

/** An error for the terminal. */
export function told(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (error instanceof AggregateError) return [error.stack, ...error.errors.map(told)].join('\n');
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
