import type { z } from 'zod';
import type { Keyring } from '../crypto/keyring.ts';
import type { TicketSealer } from '../crypto/session-ticket.ts';
import type { Database } from '../db/database.ts';
import type { RateLimitName } from '../ephemeral/rate-limits.ts';
import type { ReplayGuard } from '../ephemeral/replay-guard.ts';
import type { EphemeralStore } from '../ephemeral/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { FairQueue } from '../lib/fair-queue.ts';
import type { Logger } from '../lib/log.ts';
import type { AddressRange } from '../lib/public-address.ts';
import type { RequestNotes } from '../telemetry/request-notes.ts';
import type { Actor, RecordingActor } from './actor.ts';
import type { ChangeFeed } from './changes/changes.ts';
import type { ClientOrigin } from './client-origin.ts';
import type { ServiceCaches } from './client-session/caches.ts';
import type { CountLimitName } from './count-limits.ts';
import type { DeveloperTurns } from './developer-turns.ts';
import type { EndedSessions } from './ended-sessions.ts';
import type { ExportSlots } from './export-slots.ts';
import type { Idempotency } from './idempotency.ts';
import type { EventStats } from './outbox/event-stats.ts';
import type { RequestWork } from './request-work.ts';
import type { SecurityLogFeed } from './security-log/feed.ts';
import type { SecurityLogWriter } from './security-log/writer.ts';
import type { ServiceCounts } from './service-counts.ts';
import type { ServiceKeyRing } from './service-key/ring.ts';
import type { UnreadAnswers } from './unread-answers.ts';
import type { UseRecorder } from './use-recorder.ts';
import type { WebhookEngine } from './webhook-engine.ts';

/** What the services use. It is opened once, at start, and is the same for all requests. */
export interface ServiceEnvironment {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly store: EphemeralStore;
  readonly replayGuard: ReplayGuard;
  readonly caches: ServiceCaches;
  readonly securityLog: SecurityLogWriter;
  readonly securityLogFeed: SecurityLogFeed;
  readonly apiKeyUse: UseRecorder;
  readonly sessionUse: UseRecorder;
  readonly endedSessions: EndedSessions;
  readonly eventStats: EventStats;
  readonly exportSlots: ExportSlots;
  readonly unreadAnswers: UnreadAnswers;
  /** The turns of developers' reads and changes. */
  readonly readTurns: DeveloperTurns;
  readonly changeTurns: DeveloperTurns;
  /** The turns of mints that are inserted into an embedded database in slices, by network. */
  readonly mintTurns: FairQueue;
  /** The turns of leases for client software, by network. */
  readonly leaseTurns: FairQueue;
  readonly webhooks: WebhookEngine;
  readonly keyring: Keyring;
  readonly tickets: TicketSealer;
  readonly serviceKeys: ServiceKeyRing;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts: ServiceCounts;
  readonly settings: ServiceSettings;
}

/** The part of the configuration that decides what services answer. */
export interface ServiceSettings {
  readonly publicUrl: string;
  /** Requests per client address and minute, by name. */
  readonly rateLimits: Readonly<Record<RateLimitName, number>>;
  /** The maximum number of items per owner, by name. */
  readonly countLimits: Readonly<Record<CountLimitName, number>>;
  /** If false, the plaintext test forms of the client protocol are accepted. */
  readonly cryptoEnforce: boolean;
  /** True if anyone may register as a developer. */
  readonly registrationOpen: boolean;
  /** Ranges of addresses that webhooks may be sent to although they are not public. */
  readonly webhookAllow: readonly AddressRange[];
  readonly turnstile: { readonly secretKey: string; readonly verifyUrl: string } | null;
}

/** One request, as a verb sees it. */
export interface ServiceContext {
  readonly env: ServiceEnvironment;
  readonly actor: Actor;
  readonly client: ClientOrigin;
  /** What verbs add to the request's log line, and what they need of it. */
  readonly notes: Pick<RequestNotes, 'applicationId' | 'code'> & Partial<Pick<RequestNotes, 'userAgent'>>;
  /** Limits the request's database time, and tells whether its response is still needed. Without it, there are no limits. */
  readonly work?: RequestWork;
  /** Set if the request has an Idempotency-Key. */
  readonly idempotency?: Idempotency;
}

/** The arguments of a verb. */
export interface Call<Input, Context = ServiceContext> {
  readonly ctx: Context;
  readonly input: Input;
}

/** The same, of a verb that parses its input with this schema. */
export type CallOf<Schema extends z.ZodType> = Call<z.input<Schema>>;

/** What a change and its log entry need. A request has it, and so has an operator's command. */
export interface RecordingContext {
  readonly env: Pick<ServiceEnvironment, 'database' | 'clock'>;
  readonly actor: RecordingActor;
  readonly client: Pick<ClientOrigin, 'ip' | 'country'>;
}
