import { developerPassword, displayName, email, strictObject } from '../fields.ts';

/** Input for a new developer account. */
export const newDeveloper = strictObject({ email, password: developerPassword, name: displayName });
