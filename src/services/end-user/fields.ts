import { z } from 'zod';
import { text } from '../fields.ts';

/** Interface, "End user". */
export const username = z
  .string()
  .regex(/^[a-zA-Z0-9._-]{3,64}$/, 'must be 3 to 64 of the characters a-z A-Z 0-9 . _ -');

/** From 8 characters; to what a client may send at login (SPEC §6). */
export const endUserPassword = text({ min: 8, max: 1024 });

/** A key as a developer pastes it. */
export const licenseKey = text({ min: 1, max: 256 });
