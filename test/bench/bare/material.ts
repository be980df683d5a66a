import { z } from 'zod';

/** All that the bare program knows; it reads this as one JSON text from its standard input. */
export const bareMaterial = z.object({
  appId: z.string(),
  /** Base64 of the 32-byte Ed25519 seed that it signs with. */
  seedB64: z.string(),
  licenseKeys: z.array(z.string()),
  /** How many numbered licenses there are beside them. */
  numberedLicenses: z.number(),
  /** What every license is answered. */
  answer: z.object({
    message: z.string(),
    expiresAt: z.string(),
    status: z.string(),
    subscriptionTier: z.number(),
  }),
  /** Bytes of a session's id, so that it is as long as the service's. */
  sessionIdBytes: z.number(),
  /** What the service hashed a password to, in PHC string format; every account has it. */
  passwordHash: z.string(),
});
export type BareMaterial = z.infer<typeof bareMaterial>;
