import type { Prisma } from '../../db/client.ts';

/** The readable columns of a developer; secrets are never read. */
export const developerSelect = {
  id: true,
  email: true,
  name: true,
  keyCreationMode: true,
  licenseMask: true,
  createdAt: true,
} as const satisfies Prisma.DeveloperSelect;

export type DeveloperView = Prisma.DeveloperGetPayload<{ select: typeof developerSelect }>;
