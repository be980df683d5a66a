import type { clientPaths } from '../protocol/constants.ts';
import { type ClientAuthSuccess, clientAuthResult } from '../protocol/messages.ts';
import type { Failure } from './failure.ts';
import type { SealedCall } from './sealed-call.ts';
import type { InvalidVerdict } from './validate.ts';

/** The service's signed word that the end user is registered, logged in or upgraded. */
export interface SignedIn {
  readonly kind: 'verdict';
  readonly valid: true;
  readonly code: 'OK';
  readonly message: string;
  /** Opaque, and a secret: whoever has it is the user until `expiresAt`. */
  readonly sessionToken: string;
  /** When `sessionToken` ends. */
  readonly expiresAt: Date;
  readonly user: {
    readonly id: string;
    readonly username: string;
    readonly email: string | null;
    readonly applicationId: string;
  };
  /** Null: the user has no license, where the application requires none. */
  readonly license: {
    readonly id: string;
    readonly status: string;
    /** Null: the license never expires. */
    readonly expiresAt: Date | null;
    readonly subscriptionTier: number;
  } | null;
  /** What the service saw of this device. */
  readonly session: { readonly ip: string | null; readonly hwid: string | null };
}

export type ClientAuthOutcome = SignedIn | InvalidVerdict | Failure;

interface ClientAuthInput {
  readonly path: (typeof clientPaths)['register' | 'login' | 'upgrade'];
  /** Those that are undefined are left out of the request (SPEC §6). */
  readonly members: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal | undefined;
}

/** What register, login and upgrade have in common. Never rejects: what goes wrong is a {@link Failure}. */
export async function askClientAuth(
  call: SealedCall,
  { path, members, signal }: ClientAuthInput,
): Promise<ClientAuthOutcome> {
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) sent[name] = value;
  const answer = await call({ path, members: sent, result: clientAuthResult, signal });
  if (answer.kind === 'failure') return answer;
  const { inner } = answer;
  if (!inner.success) return { kind: 'verdict', valid: false, code: inner.code, message: inner.message };
  return signedIn(inner);
}

function signedIn({
  code,
  message,
  sessionToken,
  expiresAt,
  user,
  license,
  session,
}: ClientAuthSuccess): SignedIn {
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
