import type { z } from 'zod';
import { signCookieToken } from '../../crypto/cookie-token.ts';
import type { Prisma } from '../../db/client.ts';
import { networkOf } from '../../lib/ip.ts';
import { isByCookie, requireDeveloper } from '../actor.ts';
import type { DeveloperView } from '../auth/developer-view.ts';
import type { CallOf } from '../context.ts';
import { anyPassword, developerPassword, displayName, email, strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { changeAccount } from './change.ts';
import { withPassword } from './new-password.ts';
import { requirePassword } from './require-password.ts';

export const updateProfileInput = strictObject({
  name: displayName.optional(),
  email: email.optional(),
  /** Ends all older session cookies. */
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
 * Changes the developer's name, email address or password.
 * @throws {ServiceError} UNAUTHENTICATED, INVALID_CREDENTIALS, EMAIL_TAKEN
 */
export async function updateProfile({
  ctx,
  input: given,
}: CallOf<typeof updateProfileInput>): Promise<UpdatedProfile> {
  const developerId = requireDeveloper(ctx.actor);
  const input = parseInput(updateProfileInput, given);
  const confirmedHash = await requirePassword(ctx, developerId, input.password);
  const changed = (['name', 'email', 'newPassword'] as const).filter((field) => input[field] !== undefined);
  const account = await changeAccount(ctx, developerId, {
    data: await changes(input, networkOf(ctx.client.ip)),
    fields: changed,
    confirmedHash,
  });
  const { sessionVersion, ...developer } = account;
  const { keyring, clock } = ctx.env;
  const cookieToken =
    input.newPassword !== undefined && isByCookie(ctx.actor)
      ? await signCookieToken(keyring, clock, { developerId, sessionVersion })
      : null;
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
