import { z } from 'zod';
import type { Prisma } from '../../db/client.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { strictObject, text } from '../fields.ts';
import { toApplicationId } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { leaseDays } from './lease-days.ts';
import { messageOverrides } from './messages.ts';
import { type ApplicationView, applicationSelect, applicationView } from './view.ts';

/** An arbitrary string that clients must send exactly. */
export const applicationVersion = text({ min: 1, max: 64 });

export const updateApplicationSettingsInput = strictObject({
  version: applicationVersion,
  status: z.enum(['active', 'disabled']),
  hwidLockEnabled: z.boolean(),
  requireLicenseToRegister: z.boolean(),
  registrationEnabled: z.boolean(),
  protocol: z.enum(['any', 'v2_only']),
  leasesEnabled: z.boolean(),
  leaseDays,
  responseMessages: messageOverrides,
}).partial();

export type ApplicationSettings = z.output<typeof updateApplicationSettingsInput>;

/** Whether at least one setting was sent, which is required. */
export const settingsNotEmpty = (settings: ApplicationSettings): boolean =>
  Object.values(settings).some((value) => value !== undefined);

const settingsInput = updateApplicationSettingsInput.refine(
  settingsNotEmpty,
  'must have at least one of the settings',
);

/**
 * Changes the settings that were sent. Message texts are merged into the stored ones by the database, so that concurrent
 * edits of different texts are all kept.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND
 */
export async function updateApplicationSettings({
  ctx,
  input,
}: Call<{ id: string; settings: z.input<typeof updateApplicationSettingsInput> }>): Promise<ApplicationView> {
  const developerId = requireDeveloper(ctx.actor, 'applications:write');
  const { responseMessages, ...columns } = parseInput(settingsInput, input.settings);
  const id = toApplicationId(ctx.actor, input.id);
  const where = { id, developerId };
  const row = await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    invalidations.application(id);
    // Also locks the row, so that the read below returns this change and not a later one.
    const { count } = await transaction.application.updateMany({ where, data: columns });
    if (count === 0) throw applicationNotFound();
    if (responseMessages !== undefined) await mergeMessages(transaction, id, responseMessages);
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: id,
      event: 'application_settings_changed',
      metadata: { ...columns, ...(responseMessages && { responseMessages: Object.keys(responseMessages) }) },
    });
    return transaction.application.findUniqueOrThrow({ where, select: applicationSelect });
  });
  return applicationView(row);
}

async function mergeMessages(
  transaction: Prisma.TransactionClient,
  id: string,
  overrides: object,
): Promise<void> {
  await transaction.$executeRaw`
    UPDATE applications SET response_messages = response_messages || ${JSON.stringify(overrides)}::jsonb
    WHERE id = ${id}::uuid`;
}
