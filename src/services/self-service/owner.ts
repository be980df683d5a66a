import type { ServiceContext } from '../context.ts';
import { admitAgain, admitClient } from '../end-user/client-auth.ts';
import { verifyCredentials } from '../end-user/verify-credentials.ts';
import type { ClientRequest } from '../license/client-facts.ts';
import type { ClientFacts } from '../license/decide.ts';

/** How a customer names their license. */
export type Owner =
  | { readonly licenseKey: string }
  | { readonly username: string; readonly password: string };

export interface SelfServiceRequest extends ClientRequest {
  readonly owner: Owner;
}

/** A customer whose client, and whose password if they sent one, are accepted. */
export interface Customer<Request extends SelfServiceRequest = SelfServiceRequest> {
  readonly request: Request;
  readonly client: ClientFacts;
  readonly owner: { readonly licenseKey: string } | { readonly userId: string };
}

/**
 * Checks the client, then the password.
 * @throws {Refusal} APP_DISABLED, APP_OUTDATED, IP_BANNED, HWID_BANNED, INVALID_CREDENTIALS
 * @throws {ProtocolError} SESSION_EXPIRED if the application was deleted
 */
export async function admitCustomer<Request extends SelfServiceRequest>(
  ctx: ServiceContext,
  request: Request,
): Promise<Customer<Request>> {
  const client = await admitClient(ctx, request);
  const { owner, application } = request;
  if ('licenseKey' in owner) return { request, client, owner };
  const { id: userId } = await verifyCredentials(ctx, { ...owner, application });
  return { ...(await admitAgain(ctx, request)), owner: { userId } };
}
