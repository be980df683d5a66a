/**
 * The modules that a TypeScript source names: imports and re-exports, of types too, and dynamic imports.
 * It relies on the formatter: statements begin at the start of a line and end in a semicolon.
 * A dynamic import of something computed comes back as `<computed>`.
 */
export function modulesNamedBy(source) {
  const code = withoutComments(source);
  const patterns = [
    /^(?:import|export)\b[^;'"]*?\bfrom\s*(['"])(?<name>.+?)\1/gm,
    /^import\s*(['"])(?<name>.+?)\1/gm,
    /\b(?:import|require)\(\s*(['"`])(?<name>[^'"`$]+)\1/g,
  ];
  const names = patterns.flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => match.groups?.name ?? ''),
  );
  if (/\bimport\(\s*(?:[^'"`\s]|`[^`]*\$)/.test(code)) names.push('<computed>');
  return names;
}
/** Whether the code, comments apart, reads the environment, by any of its spellings. */
export function readsEnvironment(source) {
  const code = withoutComments(source);
  return (
    /\bprocess\s*\??\.\s*env\b/.test(code) ||
    /\bprocess\s*(?:\?\.)?\[\s*['"`]env['"`]\s*\]/.test(code) ||
    /\benv\b[^;}]*\}\s*=\s*(?:globalThis\.)?process\b/.test(code) ||
    /\bimport\.meta\.env\b/.test(code) ||
    /['"](?:node:)?process['"]/.test(code)
  );
}
/** Comments that stand on lines of their own, as the formatter and the house style leave them, are dropped. */
function withoutComments(source) {
  return source.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, '').replace(/^[ \t]*\/\/.*$/gm, '');
}
