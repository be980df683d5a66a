import { developerPassword, displayName, email, strictObject } from '../fields.ts';

/** What a developer's account is made of. */
export const newDeveloper = strictObject({ email, password: developerPassword, name: displayName });
