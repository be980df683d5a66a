import { messageFor } from '../application/message-for.ts';
import type { ServiceContext } from '../context.ts';
import { Refusal, type RefusalOutcome, refusalOutcome } from '../end-user/client-auth.ts';
import { admitCustomer, type Customer, type SelfServiceRequest } from './owner.ts';

/** The members of each success. */
export type Success = { readonly success: true; readonly code: 'OK'; readonly message: string };

/** What is known about the request when it is refused. */
export interface Noted {
  /** Of the application's license that the request is about. */
  licenseId: string | null;
}

/**
 * Common part of the verbs: admits the customer, and records refusals in the security log.
 * @param work may throw a Refusal
 */
export async function answerSelfService<Request extends SelfServiceRequest, Members extends object>(
  ctx: ServiceContext,
  call: 'devices.list' | 'devices.release' | 'devices.move',
  request: Request,
  work: (customer: Customer<Request>, noted: Noted) => Promise<Members>,
): Promise<(Success & Members) | RefusalOutcome> {
  const { application, hwid, owner } = request;
  const noted: Noted = { licenseId: null };
  try {
    const members = await work(await admitCustomer(ctx, request), noted);
    return { success: true, code: 'OK', message: messageFor(application, 'OK'), ...members };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    ctx.env.securityLog.add(ctx.client, {
      developerId: application.developerId,
      applicationId: application.id,
      event: 'self_service_refused',
      code: error.code,
      licenseId: noted.licenseId,
      hwid,
      metadata: { call, ...('username' in owner && { username: owner.username }) },
    });
    return refusalOutcome(application, error);
  }
}
