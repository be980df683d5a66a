import type { SealedSession } from '../setup/sealed-client.ts';

export interface MintedKey {
  readonly id: string;
  readonly licenseKey: string;
}

/** What was asked of a service, and what of it the service has acknowledged: only the latter is a promise. */
export class Journal {
  /** What must never happen, in words. */
  readonly violations: string[] = [];
  /** Of every batch that was asked for, which is there whole or not at all. */
  readonly notes = new Set<string>();
  /** Batches that an answer has shown, by their notes. Their last key is left to look at afterwards. */
  readonly batches = new Map<string, readonly MintedKey[]>();
  readonly unused: MintedKey[] = [];
  /** Bound to {@link deviceOf} them. */
  readonly bound: MintedKey[] = [];
  readonly banAsked = new Set<string>();
  readonly banned = new Set<string>();
  readonly users: { readonly username: string; readonly hwid: string }[] = [];
  readonly apiKeys: { readonly id: string; readonly apiKey: string }[] = [];
  readonly revocationAsked = new Set<string>();
  readonly revoked = new Set<string>();
  /** The setting is a number that only rises. */
  settingAsked = 0;
  settingDone = 0;
  settingsDone = 0;
  /** The latest that was answered with a verdict: an attacker may have recorded it. */
  acceptedEnvelope: ReturnType<SealedSession['seal']> | null = null;

  minted(note: string, keys: readonly MintedKey[]): void {
    this.batches.set(note, keys);
    this.unused.push(...keys.slice(0, -1));
  }

  /** How many writes were acknowledged. */
  get acknowledged(): number {
    const { batches, bound, banned, users, apiKeys, revoked, settingsDone } = this;
    return (
      batches.size + bound.length + banned.size + users.length + apiKeys.length + revoked.size + settingsDone
    );
  }
}
