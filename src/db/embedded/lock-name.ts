/** The name of a lock file in a data directory; its number is the first group. */
export const lockName = /^postgres\.lock\.(\d{1,9})$/;

export const isLockName = (name: string): boolean => lockName.test(name);
