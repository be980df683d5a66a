import { innerRegisterRequest } from '../../protocol/messages.ts';
import { text } from '../fields.ts';

/** Interface, "End user". */
export const { username } = innerRegisterRequest.shape;

/** From 8 characters; to what a client may send at login (SPEC §6). */
export const endUserPassword = text({ min: 8, max: 1024 });

/** A key as a developer pastes it. */
export const licenseKey = text({ min: 1, max: 256 });
