import { randomInt } from 'node:crypto';

/**
 * A session version that ends all earlier cookies. It is random instead of incremented: after a restore from a backup,
 * increments would reach the same numbers again and revive cookies issued after that backup.
 */
export const newSessionVersion = (): number => randomInt(1, 2 ** 31);
