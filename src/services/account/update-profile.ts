import type { z } from 'zod';
import { signCookieToken } from '../../crypto/cookie-token.ts';
import type { Prisma } from '../../db/client.ts';
import { networkOf } from '../../lib/ip.ts';
import { isByCookie, requireDeveloper } from '../actor.ts';
import type { DeveloperView } from '../auth/developer-view.ts';
import type { CallOf } from '../context.ts';
import { anyPassword, developerPassword, displayName, email, strictObject } from '../fields.ts';
import { once } from '../idempotency.ts';
import { parseInput } from '../parse-input.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { changeAccount } from './change.ts';
import { withPassword } from './new-password.ts';
import { requirePassword } from './require-password.ts';

export const updateProfileInput = strictObject({
  name: displayName.optional(),
  email: email.optional(),
  /** Ends all other sessions. */
  newPassword: developerPassword.optional(),
  /** The current password. */
  password: anyPassword,
});

type Profile = z.output<typeof updateProfileInput>;

export interface UpdatedProfile {
  readonly developer: DeveloperView;
  /**
   * A new cookie token, if the password was changed by a caller with a cookie: all others have ended. Null for callers
   * with an API key.
   */
  readonly cookieToken: string | null;
}

/**
 * Changes the developer's name, email address or password. A new password ends all sessions; a caller with a cookie gets a
 * new one.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, INVALID_CREDENTIALS, EMAIL_TAKEN
 */
export async function updateProfile({
  ctx,
  input: given,
}: CallOf<typeof updateProfileInput>): Promise<UpdatedProfile> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const input = parseInput(updateProfileInput, given);
  const changed = (['name', 'email', 'newPassword'] as const).filter((field) => input[field] !== undefined);
  // A request that is repeated with its Idempotency-Key may have changed the password that it sends, and ended its session.
  const account = await once(ctx, async () => {
    if (input.email !== undefined || input.newPassword !== undefined) await requireConfirmation(ctx);
    const confirmedHash = await requirePassword(ctx, developerId, input.password);
    return changeAccount(ctx, developerId, {
      data: await changes(input, networkOf(ctx.client.ip)),
      fields: changed,
      confirmedHash,
      startsSession: input.newPassword !== undefined && isByCookie(ctx.actor),
    });
  });
  const { sessionVersion, sessionId, ...developer } = account;
  const { keyring, clock } = ctx.env;
  const cookieToken =
    sessionId === null
      ? null
      : await signCookieToken(keyring, clock, { developerId, sessionVersion, sessionId });
  return { developer, cookieToken };
}

async function changes(
  { name, email: address, newPassword }: Profile,
  network: string,
): Promise<Prisma.DeveloperUpdateInput> {
  return {
    ...(name !== undefined && { name }),
    ...(address !== undefined && { email: address, emailNormalized: address.toLowerCase() }),
    ...(newPassword !== undefined && (await withPassword(newPassword, network))),
  };
}
