/** What a license has to answer, and its user: known because each is in one hand at a time. */
export interface ModelLicense {
  readonly id: string;
  readonly licenseKey: string;
  readonly tier: number;
  hwid: string | null;
  state: 'unused' | 'active' | 'banned' | 'deleted';
  user: ModelUser | null;
}

export interface ModelUser {
  readonly username: string;
  readonly password: string;
}

/** More licenses than this are deleted, the oldest first: a soak is to find growth of the service, not of its data. */
const mostLicenses = 2_000;

/** The licenses that nobody has in hand. */
export class Model {
  readonly #free: ModelLicense[] = [];

  /** Takes one of these at random out of the others' reach. */
  take(wanted: (license: ModelLicense) => boolean): ModelLicense | null {
    const start = Math.floor(Math.random() * this.#free.length);
    for (let step = 0; step < this.#free.length; step += 1) {
      const place = (start + step) % this.#free.length;
      const license = this.#free[place];
      if (license !== undefined && wanted(license)) {
        this.#free.splice(place, 1);
        return license;
      }
    }
    return null;
  }

  giveBack(license: ModelLicense): void {
    // What is gone is asked about for a while: it has to stay gone.
    if (license.state !== 'deleted' || Math.random() < 0.8) this.#free.push(license);
  }

  get isFull(): boolean {
    return this.#free.length > mostLicenses;
  }

  get size(): number {
    return this.#free.length;
  }
}

/** What a validation of this license has to say, from this device. */
export function verdictOf(license: ModelLicense, hwid: string): string {
  if (license.state === 'deleted') return 'LICENSE_NOT_FOUND';
  if (license.state === 'banned') return 'BANNED';
  return license.hwid === null || license.hwid === hwid ? 'OK' : 'HWID_MISMATCH';
}
