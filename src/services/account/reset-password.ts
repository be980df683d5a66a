import { isRecordNotFound } from '../../db/errors.ts';
import { networkOf } from '../../lib/ip.ts';
import { type DeveloperView, developerSelect } from '../auth/developer-view.ts';
import { recordChanges } from '../changes/record.ts';
import type { Call, RecordingContext } from '../context.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { withPassword } from './new-password.ts';

/**
 * Sets a developer's password and ends the account's session cookies. For operators, who do not need the old password.
 * Open streams recheck their cookies before they deliver anything more.
 * @returns null if no account has that email address
 */
export async function resetPassword({
  ctx,
  input,
}: Call<{ email: string; password: string }, RecordingContext>): Promise<DeveloperView | null> {
  const data = await withPassword(input.password, networkOf(ctx.client.ip));
  return ctx.env.database.prisma
    .$transaction(async (transaction) => {
      const developer = await transaction.developer.update({
        where: { emailNormalized: input.email.toLowerCase() },
        data,
        select: developerSelect,
      });
      await recordSecurityEvent(ctx, transaction, {
        developerId: developer.id,
        applicationId: null,
        event: 'account_changed',
        metadata: { changed: ['newPassword'] },
      });
      // Instances that run on the same server check the account's open streams again.
      if (ctx.env.database.kind === 'server')
        await recordChanges(transaction, [{ cache: 'credentials', keys: [developer.id] }]);
      return developer;
    })
    .catch((error: unknown) => {
      if (isRecordNotFound(error)) return null;
      throw error;
    });
}
