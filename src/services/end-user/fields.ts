import { innerRegisterRequest } from '../../protocol/messages.ts';
import { text } from '../fields.ts';

/** An end user's name, the same as in the client protocol. */
export const { username } = innerRegisterRequest.shape;

/** At least 8 characters, and at most what clients can send at login (SPEC §6). */
export const endUserPassword = text({ min: 8, max: 1024 });

/** A license key entered by a developer. */
export const licenseKey = text({ min: 1, max: 256 });
