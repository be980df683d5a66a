/** Client software's SDK, exported as "latchkey/client". Node.js 20 and newer, Deno, browsers. */
export { type Client, createClient } from './client.ts';
export type { Failure, FailureReason } from './failure.ts';
export type { ClientOptions } from './options.ts';
export type { InvalidVerdict, ValidateOptions, ValidateOutcome, ValidVerdict } from './validate.ts';
