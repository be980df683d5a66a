import { distance } from 'fastest-levenshtein';
import { variableNames } from './config.ts';

/** Shorter names may be similar by coincidence. */
const minTypoLength = 4;
/** The maximum edit distance of a typo. */
const maxDistance = 2;

/** First words that variables of other programs have too. A shared first word alone is not reported. */
const commonWords = new Set([
  'HOST',
  'PORT',
  'NODE',
  'DATA',
  'PUBLIC',
  'LOG',
  'SERVICE',
  'REDIS',
  'DATABASE',
]);

/** Variables that Kubernetes sets for each service of a namespace: `REDIS_SERVICE_HOST`, `REDIS_PORT_6379_TCP_ADDR`. */
const setByKubernetes = /_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP)(_|$)|$)/;

/**
 * Finds variables that the service does not read but that resemble its own, such as a misspelt `LOG_LEVL`.
 * @returns a message for each, with the variable that may be meant
 */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = new Set(variableNames);
  return Object.keys(env)
    .filter((name) => env[name] !== '' && !known.has(name) && !setByKubernetes.test(name))
    .toSorted()
    .flatMap((name) => {
      const similar = similarTo(name);
      return similar === undefined ? [] : [`${name} is not a Latchkey variable. Did you mean ${similar}?`];
    });
}

/** The variable of the service that a name resembles most. */
function similarTo(name: string): string | undefined {
  const bare = name.replace(/^LATCHKEY_/, '');
  const [nearest] = variableNames
    .map((own) => ({ own, apart: distance(bare.toUpperCase(), own) }))
    .filter(({ own, apart }) => isTypo(bare, own, apart) || startsLike(bare, own))
    .toSorted((one, other) => one.apart - other.apart);
  return nearest?.own;
}

/** Whether a name is close enough to be a typo. */
const isTypo = (name: string, own: string, apart: number): boolean =>
  apart <= (own.length >= 2 * minTypoLength ? maxDistance : 1) &&
  Math.min(name.length, own.length) >= minTypoLength;

/** Whether one name starts with the other, or both start with a word that other programs rarely use. */
function startsLike(name: string, own: string): boolean {
  const [first = '', second] = own.split('_');
  if (second === undefined) return false;
  if (own.startsWith(`${name}_`)) return name.includes('_');
  if (name.startsWith(`${own}_`)) return true;
  return !commonWords.has(first) && name.startsWith(`${first}_`);
}
