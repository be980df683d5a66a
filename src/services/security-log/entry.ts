import type { SecurityEvent } from './events.ts';

/** An event, as a verb records it. It never contains a plaintext key, password or token. */
export interface SecurityLogInput {
  readonly developerId: string;
  readonly applicationId: string | null;
  readonly event: SecurityEvent;
  /** The verdict on a client's request. */
  readonly code?: string;
  readonly licenseId?: string | null;
  readonly userId?: string | null;
  readonly hwid?: string | null;
  readonly metadata?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
}

/** An entry as it is stored. */
export interface SecurityLogRow extends SecurityLogInput {
  readonly id: string;
  readonly ip: string | null;
  readonly country: string | null;
  readonly createdAt: Date;
}
