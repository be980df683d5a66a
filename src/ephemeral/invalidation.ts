import { z } from 'zod';

/** What instances tell each other: who wrote, and which keys of the channel's cache are outdated. */
const invalidation = z.object({
  from: z.string(),
  keys: z.union([z.literal('all'), z.array(z.string()).readonly()]),
});

export type Invalidation = Readonly<z.infer<typeof invalidation>>;

export function printInvalidation(message: Invalidation): string {
  return JSON.stringify(message);
}

/** @returns null for what cannot be read, such as another version's message: treat it as "all" from another. */
export function parseInvalidation(text: string): Invalidation | null {
  try {
    return invalidation.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
