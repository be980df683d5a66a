import { applicationOf, type DeveloperActor } from '../actor.ts';
import { toApplicationId } from '../own-application.ts';

/**
 * The application whose events a caller reads: the one that they name, or the only one that their API key opens; undefined
 * for all, and the account's.
 * @throws {ServiceError} APP_NOT_FOUND if the key is for another one
 */
export function readableApplication(actor: DeveloperActor, named: string | undefined): string | undefined {
  return named === undefined ? (applicationOf(actor) ?? undefined) : toApplicationId(actor, named);
}
