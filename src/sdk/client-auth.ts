import type { SignedInMembers } from '../protocol/messages.ts';
import type { Call } from './call.ts';
import type { Failure } from './failure.ts';
import { detailsOf, type InvalidVerdict, type LicenseDetails, refusedBy } from './verdict.ts';

/** The service's signed confirmation that the end user is registered, logged in or upgraded. */
export interface SignedIn {
  readonly kind: 'verdict';
  readonly valid: true;
  readonly code: 'OK';
  readonly message: string;
  readonly source: 'service';
  /** An opaque secret that authenticates the user until `expiresAt`. */
  readonly sessionToken: string;
  /** When `sessionToken` expires. */
  readonly expiresAt: Date;
  readonly user: {
    readonly id: string;
    readonly username: string;
    readonly email: string | null;
    readonly applicationId: string;
  };
  /** Null if the user has no license, which is possible if the application does not require one. */
  readonly license: (LicenseDetails & { readonly id: string }) | null;
  /** This device's IP address and HWID as seen by the service. */
  readonly session: { readonly ip: string | null; readonly hwid: string | null };
}

export type ClientAuthOutcome = SignedIn | InvalidVerdict | Failure;

interface ClientAuthInput {
  readonly verb: 'register' | 'login' | 'upgrade';
  /** Undefined members are omitted from the request (SPEC §6). */
  readonly members: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal | undefined;
}

/** Common part of register, login and upgrade. Never rejects; errors are returned as a {@link Failure}. */
export async function askClientAuth(
  call: Call,
  { verb, members, signal }: ClientAuthInput,
): Promise<ClientAuthOutcome> {
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) sent[name] = value;
  const answer = await call({ call: verb, members: sent, signal });
  if (answer.kind === 'failure') return answer;
  const { inner } = answer;
  return inner.success ? signedIn(inner) : refusedBy(inner);
}

function signedIn(inner: SignedInMembers & { readonly message: string }): SignedIn {
  const { code, message, sessionToken, expiresAt, user, license, session } = inner;
  return {
    kind: 'verdict',
    valid: true,
    code,
    message,
    source: 'service',
    sessionToken,
    expiresAt: new Date(expiresAt),
    user,
    license: license && { id: license.id, ...detailsOf(license) },
    session,
  };
}
