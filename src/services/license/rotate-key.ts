import { z } from 'zod';
import { type Sha256, sha256 } from '../../crypto/hash.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { strictObject } from '../fields.ts';
import { once } from '../idempotency.ts';
import { parseInput } from '../parse-input.ts';
import { hashFromHex, isKeyOfHash, licenseKeyHash, licenseKeyPrefix, wholeKeyAsPrefix } from './blind-key.ts';
import { type Changing, changeLicense, type LicenseChange } from './change.ts';
import type { LockedLicense } from './lock.ts';
import { defaultMask, keyPrefix, licenseMask, mintKeys } from './mask.ts';
import { isKeyTaken, retireKeys } from './replace-key.ts';
import type { LicenseView } from './view.ts';

/** Thirty days. */
const maxOverlap = 2_592_000;

export const rotateKeyInput = strictObject({
  /** How long the old key stays good; 0: not at all. */
  overlapSeconds: z.int().min(0).max(maxOverlap),
  mask: licenseMask.optional(),
  /** Of a key that the client has generated; both or none. */
  licenseKeyHash: licenseKeyHash.optional(),
  licenseKeyPrefix: licenseKeyPrefix.optional(),
});

const rotationInput = rotateKeyInput
  .refine(
    (given) => (given.licenseKeyHash === undefined) === (given.licenseKeyPrefix === undefined),
    'must have both licenseKeyHash and licenseKeyPrefix, or none of them',
  )
  .refine(
    ({ licenseKeyHash = '', licenseKeyPrefix }) =>
      licenseKeyPrefix === undefined || !isKeyOfHash(licenseKeyHash, licenseKeyPrefix),
    wholeKeyAsPrefix,
  );

type Rotation = z.output<typeof rotationInput>;

export interface RotatedKey {
  readonly license: LicenseView;
  /** The new key, here alone; null if the client has generated it. */
  readonly licenseKey: string | null;
}

/**
 * Gives a license a new key. The old one is good during the overlap, and never past the license's expiry. If it ends now, the
 * license's leases are revoked, too, because somebody else may have got them with the old key.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND; PRIVATE_MODE if the service must not
 *   generate the key; KEY_EXISTS if the client's key is or was another one; VALIDATION_FAILED if the mask leaves too
 *   few unused keys
 */
export async function rotateLicenseKey({
  ctx,
  input: { id, ...given },
}: Call<{ id: string } & z.input<typeof rotateKeyInput>>): Promise<RotatedKey> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:mint');
  const rotation = parseInput(rotationInput, given);
  return once(ctx, async () => {
    for (let left = rotation.licenseKeyHash === undefined ? attempts : 1; left > 0; left--) {
      const rotated = await tryToRotate();
      if (rotated !== 'taken') return rotated;
    }
    throw rotation.licenseKeyHash === undefined ? tooFewKeys() : keyExists();
  });

  async function tryToRotate(): Promise<RotatedKey | 'taken'> {
    let licenseKey: string | null = null;
    try {
      const decide = async (license: LockedLicense, changing: Changing): Promise<LicenseChange> => {
        const key = newKeyFromClient(rotation) ?? (await generateKey(changing, developerId, rotation));
        if (await isKeyTaken(changing, key.keyHash)) throw new KeyTaken();
        // A client may have asked for it, and the refusal may be cached.
        changing.invalidations.license(key.keyHash);
        const isEnded = (await retireKeys(license, rotation.overlapSeconds, changing)) === 'ended';
        licenseKey = key.licenseKey;
        return {
          data: {
            keyHash: Buffer.from(key.keyHash),
            keyPrefix: key.keyPrefix,
            // A verdict by the old key must not bind a device any more.
            ...(isEnded && { deviceReleases: { increment: 1 } }),
          },
          event: 'license_key_rotated',
          metadata: { overlapSeconds: rotation.overlapSeconds, keyPrefix: license.keyPrefix },
          revokesLeases: isEnded,
        };
      };
      const answer = (license: LicenseView): RotatedKey => ({ license, licenseKey });
      return answer(await changeLicense(ctx, developerId, id, decide, answer));
    } catch (error) {
      // Or another request has just taken it.
      if (error instanceof KeyTaken || isUniqueViolation(error, 'key_hash')) return 'taken';
      throw error;
    }
  }
}

/** How often a generated key that exists, which can happen with short masks, is replaced. */
const attempts = 5;

class KeyTaken extends Error {}

interface NewKey {
  readonly keyHash: Sha256;
  readonly keyPrefix: string;
  readonly licenseKey: string | null;
}

function newKeyFromClient({ licenseKeyHash, licenseKeyPrefix }: Rotation): NewKey | null {
  if (licenseKeyHash === undefined || licenseKeyPrefix === undefined) return null;
  return { keyHash: hashFromHex(licenseKeyHash), keyPrefix: licenseKeyPrefix, licenseKey: null };
}

async function generateKey(
  { transaction }: Changing,
  developerId: string,
  { mask }: Rotation,
): Promise<NewKey> {
  const account = await transaction.developer.findUniqueOrThrow({
    where: { id: developerId },
    select: { keyCreationMode: true, licenseMask: true },
  });
  if (account.keyCreationMode === 'private') throw privateMode();
  const used = mask ?? account.licenseMask ?? defaultMask;
  const [licenseKey = ''] = mintKeys(used, 1);
  return { keyHash: sha256(licenseKey), keyPrefix: keyPrefix(licenseKey, used), licenseKey };
}

const privateMode = () =>
  new ServiceError(
    'PRIVATE_MODE',
    'This account is in private mode: generate the key in the browser and send its licenseKeyHash and licenseKeyPrefix.',
  );

const keyExists = () =>
  new ServiceError('KEY_EXISTS', 'This key already exists; the license keeps its key.', {
    issues: [{ path: ['licenseKeyHash'], message: 'is the hash of an existing key' }],
  });

const tooFewKeys = () =>
  new ServiceError('VALIDATION_FAILED', 'The mask leaves too few unused keys.', {
    issues: [{ path: ['mask'], message: 'leaves too few unused keys: add more X' }],
  });
