import type { z } from 'zod';
import { signCookieToken } from '../../crypto/cookie-token.ts';
import type { Prisma } from '../../db/client.ts';
import { networkOf } from '../../lib/ip.ts';
import { isByCookie, requireDeveloper } from '../actor.ts';
import type { DeveloperView } from '../auth/developer-view.ts';
import type { ServiceContext } from '../context.ts';
import { anyPassword, developerPassword, displayName, email, strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { changeAccount } from './change.ts';
import { withPassword } from './new-password.ts';
import { requirePassword } from './require-password.ts';

export const updateProfileInput = strictObject({
  name: displayName.optional(),
  email: email.optional(),
  /** Ends every older session cookie. */
  newPassword: developerPassword.optional(),
  /** The current one. */
  password: anyPassword,
});

type Profile = z.output<typeof updateProfileInput>;

export interface UpdatedProfile {
  readonly developer: DeveloperView;
  /**
   * After a new password, for whoever is logged in by cookie: the token of the one cookie that is good from now on. An
   * API key has no cookie to renew.
   */
  readonly cookieToken: string | null;
}

/**
 * Changes the developer's name, address or password.
 * @throws {ServiceError} UNAUTHENTICATED, INVALID_CREDENTIALS, EMAIL_TAKEN
 */
export async function updateProfile({
  ctx,
  input: given,
}: {
  ctx: ServiceContext;
  input: z.input<typeof updateProfileInput>;
}): Promise<UpdatedProfile> {
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
