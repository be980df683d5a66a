import { clientAuthResult, type SignedInMembers } from '../protocol/messages.ts';
import type { Failure } from './failure.ts';
import type { SealedCall } from './sealed-call.ts';
import type { InvalidVerdict } from './validate.ts';

/** The service's signed confirmation that the end user is registered, logged in or upgraded. */
export interface SignedIn {
  readonly kind: 'verdict';
  readonly valid: true;
  readonly code: 'OK';
  readonly message: string;
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
  readonly license: {
    readonly id: string;
    readonly status: string;
    /** Null if the license never expires. */
    readonly expiresAt: Date | null;
    readonly subscriptionTier: number;
  } | null;
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
  call: SealedCall,
  { verb, members, signal }: ClientAuthInput,
): Promise<ClientAuthOutcome> {
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) sent[name] = value;
  const answer = await call({ call: verb, members: sent, result: clientAuthResult, signal });
  if (answer.kind === 'failure') return answer;
  const { inner } = answer;
  if (!inner.success) return { kind: 'verdict', valid: false, code: inner.code, message: inner.message };
  return signedIn(inner);
}

function signedIn(inner: SignedInMembers & { readonly message: string }): SignedIn {
  const { code, message, sessionToken, expiresAt, user, license, session } = inner;
  return {
    kind: 'verdict',
    valid: true,
    code,
    message,
    sessionToken,
    expiresAt: new Date(expiresAt),
    user,
    license: license && {
      ...license,
      expiresAt: license.expiresAt === null ? null : new Date(license.expiresAt),
    },
    session,
  };
}
