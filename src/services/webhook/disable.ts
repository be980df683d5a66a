import type { ServiceContext, ServiceEnvironment } from '../context.ts';
import { loggedActor } from '../security-log/actor.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { changeInTransaction } from '../transaction.ts';

interface Disabled {
  readonly webhookId: string;
  readonly developerId: string;
  readonly reason: 'gone' | 'failing';
}

/**
 * Disables a webhook whose receiver is gone or fails, with a log entry and an event. One that is disabled already stays as
 * it is. Its deliveries wait until its developer enables it.
 */
export async function disableWebhook(
  env: ServiceEnvironment,
  { webhookId, developerId, reason }: Disabled,
): Promise<void> {
  const ctx = asService(env);
  const isDisabled = await changeInTransaction(ctx, async (transaction) => {
    await transaction.$queryRaw`SELECT FROM developers WHERE id = ${developerId}::uuid FOR KEY SHARE`;
    const { count } = await transaction.webhook.updateMany({
      where: { id: webhookId, developerId, disabledAt: null },
      data: { disabledAt: new Date(env.clock.now()), disabledReason: reason },
    });
    if (count === 0) return false;
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'webhook_disabled',
      actor: loggedActor({ type: 'system' }),
      metadata: { webhookId, reason },
    });
    return true;
  });
  if (isDisabled) env.log.info({ webhookId, developerId, reason }, 'Disabled a webhook');
}

/** The context of a change that nobody has requested. */
const asService = (env: ServiceEnvironment): ServiceContext => ({
  env,
  actor: { type: 'anonymous', rejected: null },
  client: { ip: null, limitKey: 'service', country: null },
  notes: { applicationId: null, code: null },
});
