/**
 * The modules that a TypeScript source names: imports and re-exports, of types too, and dynamic imports.
 * It relies on the formatter: statements begin at the start of a line and end in a semicolon.
 * A dynamic import of something computed comes back as `<computed>`.
 */
export declare function modulesNamedBy(source: string): string[];
/** Whether the code, comments apart, reads the environment, by any of its spellings. */
export declare function readsEnvironment(source: string): boolean;
