import { isRecordNotFound } from '../../db/errors.ts';
import { networkOf } from '../../lib/ip.ts';
import { type DeveloperView, developerSelect } from '../auth/developer-view.ts';
import { recordChanges } from '../changes/record.ts';
import type { Call, RecordingContext } from '../context.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { forgetBegunTotp } from './forget-begun-totp.ts';
import { withPassword } from './new-password.ts';
import { removeTotp } from './remove-totp.ts';

interface ResetInput {
  readonly email: string;
  readonly password: string;
  readonly removeTotp: boolean;
}

export interface ResetAccount {
  readonly developer: DeveloperView;
  /** Whether TOTP is on now. */
  readonly hasTotp: boolean;
}

/**
 * Sets a developer's password and ends the account's sessions; on request, turns TOTP off. For operators, who need neither
 * the old password nor a code. Open streams recheck their sessions before they deliver anything more.
 * @returns null if no account has that email address
 */
export async function resetPassword({
  ctx,
  input,
}: Call<ResetInput, RecordingContext>): Promise<ResetAccount | null> {
  const data = await withPassword(input.password, networkOf(ctx.client.ip));
  return ctx.env.database.prisma
    .$transaction(async (transaction) => {
      const { totpEnabledAt, ...developer } = await transaction.developer.update({
        where: { emailNormalized: input.email.toLowerCase() },
        data,
        select: { ...developerSelect, totpEnabledAt: true },
      });
      const hadTotp = totpEnabledAt !== null;
      if (input.removeTotp && hadTotp) await removeTotp(ctx, transaction, developer.id, true);
      await forgetBegunTotp(transaction, developer.id);
      await recordSecurityEvent(ctx, transaction, {
        developerId: developer.id,
        applicationId: null,
        event: 'account_changed',
        metadata: { changed: ['newPassword'] },
      });
      // Instances that run on the same server check the account's open streams again.
      if (ctx.env.database.kind === 'server')
        await recordChanges(transaction, [{ cache: 'credentials', keys: [developer.id] }]);
      return { developer, hasTotp: hadTotp && !input.removeTotp };
    })
    .catch((error: unknown) => {
      if (isRecordNotFound(error)) return null;
      throw error;
    });
}
