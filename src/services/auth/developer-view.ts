import type { Prisma } from '../../db/client.ts';

/** What anyone, its owner included, is shown of a developer: selected, so that no secret is ever read. */
export const developerSelect = {
  id: true,
  email: true,
  name: true,
  keyCreationMode: true,
  licenseMask: true,
  createdAt: true,
} as const satisfies Prisma.DeveloperSelect;

export type DeveloperView = Prisma.DeveloperGetPayload<{ select: typeof developerSelect }>;
