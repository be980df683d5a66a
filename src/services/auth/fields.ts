import { closedObject, developerPassword, displayName, email } from '../fields.ts';

/** What a developer's account is made of. */
export const newDeveloper = closedObject({ email, password: developerPassword, name: displayName });
