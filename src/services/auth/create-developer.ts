import type { z } from 'zod';
import { hashPassword } from '../../crypto/password.ts';
import type { Prisma } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { type DeveloperId, newId } from '../../lib/ids.ts';
import { networkOf } from '../../lib/ip.ts';
import type { Call, RecordingContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { someoneInDashboard } from '../security-log/actor.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { type DeveloperView, developerSelect } from './developer-view.ts';
import type { newDeveloper } from './fields.ts';

/** What else is done in the transaction that creates an account. */
type AndThen<Result> = (transaction: Prisma.TransactionClient, developerId: DeveloperId) => Promise<Result>;

/**
 * Creates a developer account. Callers must check permission themselves: anyone may register while registration is open,
 * and operators may create accounts at any time.
 * @returns the account, and what `andThen` returned
 * @throws {ServiceError} EMAIL_TAKEN
 */
export async function createDeveloper<Result>(
  { ctx, input }: Call<z.output<typeof newDeveloper>, RecordingContext>,
  andThen: AndThen<Result>,
): Promise<{ readonly developer: DeveloperView; readonly result: Result }> {
  const id = newId() as DeveloperId;
  const passwordHash = await hashPassword(input.password, networkOf(ctx.client.ip));
  return ctx.env.database.prisma
    .$transaction(async (transaction) => {
      const developer = await transaction.developer.create({
        data: {
          id,
          email: input.email,
          emailNormalized: input.email.toLowerCase(),
          name: input.name,
          passwordHash,
        },
        select: developerSelect,
      });
      await recordSecurityEvent(ctx, transaction, {
        developerId: id,
        applicationId: null,
        event: 'developer_registered',
        ...(ctx.actor.type !== 'operator' && { actor: someoneInDashboard(input.name, null) }),
      });
      return { developer, result: await andThen(transaction, id) };
    })
    .catch((error: unknown) => {
      if (isUniqueViolation(error, 'email_normalized')) {
        throw new ServiceError('EMAIL_TAKEN', 'An account with this email address already exists.');
      }
      throw error;
    });
}
