import { type Finding, findingsOf } from './finding.ts';

const { ok, fail } = findingsOf('node');

/**
 * Whether the service is made for this Node.js.
 * @param version such as `22.12.0`
 */
export function checkNode(version: string): readonly Finding[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;
  return fits
    ? [ok(`Node.js ${version}`)]
    : [fail(`Node.js ${version} is not supported: install 20.19, 22.12 or 24, or a later one of these.`)];
}
