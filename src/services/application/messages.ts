import { z } from 'zod';
import { text, unknownMember } from '../fields.ts';

/** The message keys that developers can customize, with their default texts. */
export const defaultMessages = {
  OK: 'License is valid.',
  APP_DISABLED: 'This application is currently disabled.',
  APP_OUTDATED: 'This version is out of date. Please update to the latest version.',
  IP_BANNED: 'Access from your network address has been blocked.',
  HWID_BANNED: 'Access from this device has been blocked.',
  LICENSE_NOT_FOUND: 'License key not found.',
  BANNED: 'This license has been banned.',
  SUSPENDED: 'This license is suspended.',
  EXPIRED: 'This license has expired.',
  DEVICE_RELEASED: 'This device has been released from the license.',
  HWID_MISMATCH: 'This license is bound to another device.',
  DEVICE_LIMIT: 'This license is in use on as many devices as it allows.',
  SELF_SERVICE_OFF: 'The devices of this license can only be changed by its vendor.',
  DEVICE_UNKNOWN: 'This license is not bound to such a device.',
  MOVE_COOLDOWN: 'A device was moved a short time ago. Try again later.',
  MOVES_EXHAUSTED: 'No more devices can be moved for now. Try again later.',
  REGISTER_DISABLED: 'Registration is currently closed.',
  LICENSE_REQUIRED: 'A license key is required to register.',
  INVALID_CREDENTIALS: 'Wrong username or password.',
  USERNAME_TAKEN: 'This username is already taken.',
  USER_NOT_FOUND: 'User not found.',
  TIER_NOT_HIGHER: 'The new license must be of a higher tier than the current one.',
} as const;

export type MessageKey = keyof typeof defaultMessages;
export type ResponseMessages = Readonly<Record<MessageKey, string>>;

const messageKeys = Object.keys(defaultMessages) as MessageKey[];

export const responseMessageKey = z.enum(messageKeys);
export const responseMessageText = text({ min: 1, max: 500 });

/** A developer's overrides: any of the keys, but no others. */
export const messageOverrides = z.partialRecord(responseMessageKey, responseMessageText, {
  error: (issue) => (issue.code === 'invalid_type' ? undefined : unknownMember(messageKeys)),
});

/** Merges the stored overrides over the defaults. Stored keys that are no longer customizable are ignored. */
export function resolveMessages(stored: unknown): ResponseMessages {
  const overrides = z.record(z.string(), z.string()).catch({}).parse(stored);
  const known = messageKeys.filter((key) => Object.hasOwn(overrides, key));
  return { ...defaultMessages, ...Object.fromEntries(known.map((key) => [key, overrides[key]])) };
}
