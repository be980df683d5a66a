import type { EventData } from '../outbox/event.ts';
import type { LoggedActor } from './actor.ts';
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
  /** Unless it is who sent the request. */
  readonly actor?: LoggedActor;
  readonly metadata?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
  /**
   * What receivers of the event need besides the metadata, such as the license's new status; not in the log. A list makes one
   * event of each.
   */
  readonly eventData?: EventData | readonly EventData[];
}

/** An entry as it is stored. */
export interface SecurityLogRow extends Omit<SecurityLogInput, 'eventData'> {
  readonly id: string;
  readonly ip: string | null;
  readonly country: string | null;
  readonly createdAt: Date;
}
