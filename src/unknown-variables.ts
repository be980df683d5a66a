import { distance } from 'fastest-levenshtein';
import { variableNames } from './config.ts';

/** A shorter name may be a letter away from another by accident. */
const shortestTypo = 4;
/** How many letters a misspelt name may differ by. */
const mostLettersApart = 2;

/** First words that other programs' variables have too: a name must share more with ours before it is reported. */
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

/** What Kubernetes sets for each service of a namespace: `REDIS_SERVICE_HOST`, `REDIS_PORT_6379_TCP_ADDR`. */
const setByKubernetes = /_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP)(_|$)|$)/;

/**
 * Names variables that the service does not read and that look like its own, each in a sentence with the variable
 * that may be meant. Without it a misspelt `LOG_LEVL` is ignored and nothing says so.
 */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = new Set(variableNames);
  return Object.keys(env)
    .filter((name) => env[name] !== '' && !known.has(name) && !setByKubernetes.test(name))
    .toSorted()
    .flatMap((name) => {
      const meant = meantBy(name);
      return meant === undefined ? [] : [`${name} is not a variable of Latchkey: is ${meant} meant?`];
    });
}

/** The variable of ours that a name resembles most. */
function meantBy(name: string): string | undefined {
  const bare = name.replace(/^LATCHKEY_/, '');
  const [nearest] = variableNames
    .map((own) => ({ own, apart: distance(bare.toUpperCase(), own) }))
    .filter(({ own, apart }) => isTypo(bare, own, apart) || beginsAlike(bare, own))
    .toSorted((one, other) => one.apart - other.apart);
  return nearest?.own;
}

/** `PATH` is one letter from nothing of ours by this, and `LOG_LEVL` from `LOG_LEVEL`. */
const isTypo = (name: string, own: string, apart: number): boolean =>
  apart <= (own.length >= 2 * shortestTypo ? mostLettersApart : 1) &&
  Math.min(name.length, own.length) >= shortestTypo;

/** Whether one name begins with the other, or both with words that hardly another program uses. */
function beginsAlike(name: string, own: string): boolean {
  const [first = '', second] = own.split('_');
  if (second === undefined) return false;
  if (own.startsWith(`${name}_`)) return name.includes('_');
  if (name.startsWith(`${own}_`)) return true;
  return !commonWords.has(first) && name.startsWith(`${first}_`);
}
