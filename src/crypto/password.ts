import { hash, verify } from '@node-rs/argon2';

/** Argon2id (the library's default algorithm) at the cost that OWASP recommends: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A hash of no one's password, so that an unknown account costs as much time as a known one. */
let decoy: Promise<string> | undefined;

/** Argon2id in PHC string format; runs off the event loop. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, cost);
}

/**
 * True when the password fits the hash. Without a hash it does the same work and answers false, so that response
 * times do not tell which accounts exist.
 */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  decoy ??= hashPassword('a password that nobody has');
  const matches = await verify(passwordHash ?? (await decoy), password);
  return matches && passwordHash !== null;
}
