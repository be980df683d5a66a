import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unprivileged } from './own-postgresql.ts';

export interface IssuedCertificate {
  /** Paths of PEM files. */
  readonly certificate: string;
  readonly key: string;
}

/** The test's own certificate authority, which no system trusts. */
export class PrivateCa {
  readonly #directory = mkdtempSync(join(tmpdir(), 'latchkey-private-ca-'));
  readonly #user = unprivileged();
  #issued = 0;
  /** The path of its own certificate in PEM. */
  readonly certificate = join(this.#directory, 'ca.pem');

  constructor() {
    this.#give(this.#directory);
    const self = ['-x509', ...newKey, '-keyout', this.#key, '-out', this.certificate, '-days', '2'];
    this.#openssl('req', ...self, '-subj', '/CN=Private CA');
    this.#give(this.certificate);
  }

  get #key(): string {
    return join(this.#directory, 'ca.key');
  }

  /**
   * @param names the subjectAltName, such as `DNS:localhost,IP:127.0.0.1`
   * @param days validity from now in days; negative for an expired certificate
   */
  issue(names: string, days = 2): IssuedCertificate {
    this.#issued += 1;
    const path = join(this.#directory, `issued-${this.#issued}`);
    const [certificate, key, request, extensions] = ['.pem', '.key', '.csr', '.ext'].map(
      (end) => `${path}${end}`,
    ) as [string, string, string, string];
    writeFileSync(extensions, `subjectAltName=${names}\n`);
    this.#openssl('req', ...newKey, '-keyout', key, '-out', request, '-subj', '/CN=issued');
    const signed = ['-CA', this.certificate, '-CAkey', this.#key, '-CAcreateserial', '-days', String(days)];
    this.#openssl('x509', '-req', '-in', request, ...signed, '-extfile', extensions, '-out', certificate);
    for (const file of [certificate, key]) this.#give(file);
    return { certificate, key };
  }

  /** PostgreSQL accepts only key files with access for its own user, and runs as a user without files. */
  #give(path: string): void {
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  }

  #openssl(...words: string[]): void {
    execFileSync('openssl', words, { stdio: 'pipe' });
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
