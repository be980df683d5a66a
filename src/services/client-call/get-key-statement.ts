import type { Call } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { type KeyStatement, statementFor } from './key-statement.ts';

/**
 * The statement to which an application's clients encrypt their requests.
 * @throws {ServiceError} APP_NOT_FOUND
 * @throws {StoreUnavailableError} if there is no key
 */
export async function getKeyStatement({
  ctx,
  input,
}: Call<{ readonly appId: string }>): Promise<KeyStatement> {
  const application = await ctx.env.caches.application(input.appId);
  if (application === null) throw applicationNotFound();
  ctx.notes.applicationId = application.id;
  return statementFor(application, await ctx.env.serviceKeys.announced());
}
