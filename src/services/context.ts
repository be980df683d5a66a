import type { Keyring } from '../crypto/keyring.ts';
import type { TicketSealer } from '../crypto/session-ticket.ts';
import type { Database } from '../db/database.ts';
import type { RateLimitName } from '../ephemeral/rate-limits.ts';
import type { ReplayGuard } from '../ephemeral/replay-guard.ts';
import type { EphemeralStore } from '../ephemeral/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { FairQueue } from '../lib/fair-queue.ts';
import type { Logger } from '../lib/log.ts';
import type { RequestNotes } from '../telemetry/request-notes.ts';
import type { Actor } from './actor.ts';
import type { ApiKeyUseRecorder } from './api-key/note-use.ts';
import type { EndedSessions } from './auth/ended-sessions.ts';
import type { ServiceCaches } from './caches.ts';
import type { DatabaseWatch } from './coherence/database-watch.ts';
import type { CountLimitName } from './count-limits.ts';
import type { DeveloperTurns } from './developer-turns.ts';
import type { ExportSlots } from './export-slots.ts';
import type { RequestWork } from './request-work.ts';
import type { SecurityLogFeed } from './security-log/feed.ts';
import type { SecurityLogWriter } from './security-log/writer.ts';
import type { ServiceCounts } from './service-counts.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** What the services work with: opened once at start, the same for every request. */
export interface ServiceEnvironment {
  readonly database: Database;
  readonly databaseWatch: Pick<DatabaseWatch, 'othersHaveLooked'>;
  readonly store: EphemeralStore;
  readonly replayGuard: ReplayGuard;
  readonly caches: ServiceCaches;
  readonly securityLog: SecurityLogWriter;
  readonly securityLogFeed: SecurityLogFeed;
  readonly endedSessions: EndedSessions;
  readonly apiKeyUse: ApiKeyUseRecorder;
  readonly exportSlots: ExportSlots;
  readonly unreadAnswers: UnreadAnswers;
  /** Of developers who read, and who change. */
  readonly readTurns: DeveloperTurns;
  readonly changeTurns: DeveloperTurns;
  /** Of mints that go into an embedded database in slices, by network. */
  readonly mintTurns: FairQueue;
  readonly keyring: Keyring;
  readonly tickets: TicketSealer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts: ServiceCounts;
  readonly settings: ServiceSettings;
}

/** The part of the configuration that decides what services answer. */
export interface ServiceSettings {
  readonly publicUrl: string;
  /** Requests a client address and minute, by name. */
  readonly rateLimits: Readonly<Record<RateLimitName, number>>;
  /** How many things one owner can have, by name. */
  readonly countLimits: Readonly<Record<CountLimitName, number>>;
  /** False admits the plaintext test forms of the client protocol. */
  readonly cryptoEnforce: boolean;
  /** Whether anybody may register as a developer. */
  readonly registrationOpen: boolean;
  readonly turnstile: { readonly secretKey: string; readonly verifyUrl: string } | null;
}

/** One request, as a verb sees it. */
export interface ServiceContext {
  readonly env: ServiceEnvironment;
  readonly actor: Actor;
  readonly client: ClientOrigin;
  /** What the request's log line says of it, as far as a verb comes to know that. */
  readonly notes: Pick<RequestNotes, 'applicationId' | 'code'>;
  /** What it may have the database do, and whether the answer is still wanted; without it, there is no end to either. */
  readonly work?: RequestWork;
}

/** What a change and its entry in the security log need: of a request, or of an operator's command. */
export interface RecordingContext {
  readonly env: Pick<ServiceEnvironment, 'database' | 'clock'>;
  readonly client: Pick<ClientOrigin, 'ip' | 'country'>;
}

/** Where a request came from. */
export interface ClientOrigin {
  /**
   * Canonical text of the address: RFC 5952 for IPv6, dotted for IPv4 also when it came mapped into IPv6. Null when it
   * could not be read: then it is neither stored nor matched against bans.
   */
  readonly ip: string | null;
  /** Bucket of the rate limits: the IPv4 address, the /64 of an IPv6 one, or `unknown`. */
  readonly limitKey: string;
  /** ISO 3166-1 alpha-2, when it is known. */
  readonly country: string | null;
}
