import { z } from 'zod';
import { developerPassword, displayName, email } from '../fields.ts';

/** What a developer's account is made of. */
export const newDeveloper = z.object({ email, password: developerPassword, name: displayName });
