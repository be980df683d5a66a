import type { SealedSession } from '../setup/sealed-client.ts';

export interface MintedKey {
  readonly id: string;
  readonly licenseKey: string;
}

/** Requests to a service, and which of them it has acknowledged: only those are promises. */
export class Journal {
  /** Descriptions of broken promises. */
  readonly violations: string[] = [];
  /** The size of every requested batch, which must be stored completely or not at all. */
  readonly notes = new Set<string>();
  /** Acknowledged batches by their notes. The last key of each is left for the verification. */
  readonly batches = new Map<string, readonly MintedKey[]>();
  readonly unused: MintedKey[] = [];
  /** Keys bound to their device, {@link deviceOf}. */
  readonly bound: MintedKey[] = [];
  readonly banAsked = new Set<string>();
  readonly banned = new Set<string>();
  readonly users: { readonly username: string; readonly hwid: string }[] = [];
  readonly apiKeys: { readonly id: string; readonly apiKey: string }[] = [];
  readonly revocationAsked = new Set<string>();
  readonly revoked = new Set<string>();
  /** The setting is a number that only increases. */
  settingAsked = 0;
  settingDone = 0;
  settingsDone = 0;
  /** The latest envelope that got a result: an attacker may have recorded it. */
  acceptedEnvelope: ReturnType<SealedSession['seal']> | null = null;

  minted(note: string, keys: readonly MintedKey[]): void {
    this.batches.set(note, keys);
    this.unused.push(...keys.slice(0, -1));
  }

  /** The number of acknowledged writes. */
  get acknowledged(): number {
    const { batches, bound, banned, users, apiKeys, revoked, settingsDone } = this;
    return (
      batches.size + bound.length + banned.size + users.length + apiKeys.length + revoked.size + settingsDone
    );
  }
}
