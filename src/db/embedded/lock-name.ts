/** Name of a lock file in a data directory, with its number. */
export const lockName = /^postgres\.lock\.(\d{1,9})$/;

export const isLockName = (name: string): boolean => lockName.test(name);
