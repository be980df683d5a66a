import { z } from 'zod';

/** What instances tell each other: who wrote, and which keys, or all keys of which groups, are outdated. */
const invalidation = z.union([
  z.object({ from: z.string(), keys: z.union([z.literal('all'), z.array(z.string()).readonly()]) }),
  z.object({ from: z.string(), groups: z.array(z.string()).readonly() }),
]);

export type Invalidation = Readonly<z.infer<typeof invalidation>>;

export function printInvalidation(message: Invalidation): string {
  return JSON.stringify(message);
}

/** @returns null for a message that cannot be read, such as another version's: treat it as "all" from another instance. */
export function parseInvalidation(text: string): Invalidation | null {
  try {
    return invalidation.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
