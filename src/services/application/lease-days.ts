import { z } from 'zod';

/** The term of a lease in days. The longest is also in the protocol (`maxLeaseSeconds`) and the database. */
export const leaseDays = z.int().min(1).max(30);
