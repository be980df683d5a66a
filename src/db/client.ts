/**
 * The generated Prisma client and its types, under one name for the rest of the service.
 * `npx prisma generate` makes it from prisma/schema.prisma.
 */
export * from './generated/prisma/client.ts';
