/**
 * Re-exports the generated Prisma client and its types for the rest of the service.
 * `npx prisma generate` generates it from prisma/schema.prisma.
 */
export * from './generated/prisma/client.ts';
