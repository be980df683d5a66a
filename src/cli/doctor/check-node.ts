import { type Finding, findingsOf } from './finding.ts';

const { ok, fail } = findingsOf('node');

/**
 * Checks that the service supports this version of Node.js.
 * @param version such as `22.12.0`
 */
export function checkNode(version: string): readonly Finding[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;
  return isSupported
    ? [ok(`Node.js ${version}`)]
    : [fail(`Node.js ${version} is not supported: install 20.19 or later, 22.12 or later, or 24 or later.`)];
}
