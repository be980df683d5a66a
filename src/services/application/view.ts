import type { Prisma } from '../../db/client.ts';
import { type ResponseMessages, resolveMessages } from './messages.ts';

/** The columns of an application that its owner can read; the private key is never read. */
export const applicationSelect = {
  id: true,
  name: true,
  version: true,
  status: true,
  hwidLockEnabled: true,
  requireLicenseToRegister: true,
  registrationEnabled: true,
  protocol: true,
  leasesEnabled: true,
  leaseDays: true,
  responseMessages: true,
  publicKey: true,
  createdAt: true,
  updatedAt: true,
} as const satisfies Prisma.ApplicationSelect;

export type ApplicationRow = Prisma.ApplicationGetPayload<{ select: typeof applicationSelect }>;

export interface ApplicationView extends Omit<ApplicationRow, 'publicKey' | 'responseMessages'> {
  /** Base64 of the 32 raw bytes. */
  readonly publicKeyB64: string;
  /** All messages: the overrides merged over the defaults. */
  readonly responseMessages: ResponseMessages;
}

export function applicationView(row: ApplicationRow): ApplicationView {
  const { publicKey, responseMessages, ...fields } = row;
  return {
    ...fields,
    publicKeyB64: Buffer.from(publicKey).toString('base64'),
    responseMessages: resolveMessages(responseMessages),
  };
}
