import fc from 'fast-check';
import { z } from 'zod';

/**
 * Options of a property test: the given number of runs, or `FUZZ_RUNS`. `FUZZ_SEED` repeats a run; a failure prints the
 * seed and the smallest failing input.
 */
const wanted = z
  .object({
    FUZZ_RUNS: z.coerce.number().int().positive().optional(),
    FUZZ_SEED: z.coerce.number().int().optional(),
  })
  .parse({ FUZZ_RUNS: process.env.FUZZ_RUNS, FUZZ_SEED: process.env.FUZZ_SEED });
const seed = wanted.FUZZ_SEED ?? Date.now() & 0x7fffffff;
if (wanted.FUZZ_RUNS !== undefined) process.stderr.write(`Fuzzing with FUZZ_SEED=${seed}\n`);

export const fuzz = (runs: number) => ({ seed, numRuns: wanted.FUZZ_RUNS ?? runs });

/** The timeout of a test in milliseconds, which grows with the requested number of inputs. */
export const fuzzTimeout = wanted.FUZZ_RUNS === undefined ? 60_000 : 3_600_000;

/** Texts that have broken things elsewhere. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    ...[
      '',
      ' ',
      '\0',
      'a\0b',
      '\ud800',
      '\udc00a',
      '\ufeff',
      '\u202e',
      '\u0000\u0001\u001f\u007f',
      '\r\nSet-Cookie: a=b',
    ],
    ...[
      "' OR 1=1 --",
      '"; DROP TABLE licenses; --',
      '%',
      '_',
      '\\',
      '$1',
      '#{7*7}',
      '{{7*7}}',
      '%s%n',
      '../../etc/passwd',
    ],
    ...[
      '__proto__',
      'constructor',
      'toString',
      'null',
      'undefined',
      'NaN',
      'true',
      '-0',
      '1e999',
      '0x10',
      '٣',
    ],
    ...[
      '<script>alert(1)</script>',
      'javascript:1',
      'x'.repeat(2000),
      '💥'.repeat(300),
      'e\u0301'.repeat(200),
    ],
  ),
);

/** JSON values that have broken things elsewhere. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    ...[null, true, false, 0, -0, -1, 1.5, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63, 1e308, -1e308, 5e-324],
    ...[
      [],
      {},
      [[]],
      [null],
      { $ne: null },
      { toString: 'x' },
      { length: 1e9 },
      JSON.parse('{"__proto__":{"a":1}}'),
    ],
    JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`),
  ),
);

/** These bytes, or those of this text, with up to three of them changed, removed or inserted. */
export const damaged = (original: string | Uint8Array): fc.Arbitrary<Buffer> =>
  fc
    .array(
      fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.constantFrom('set', 'cut', 'add', 'end')),
      {
        minLength: 1,
        maxLength: 3,
      },
    )
    .map((changes) => {
      let bytes = [...Buffer.from(original)];
      for (const [where, byte, what] of changes) {
        const at = bytes.length === 0 ? 0 : where % bytes.length;
        if (what === 'set') bytes[at] = byte;
        else if (what === 'cut') bytes.splice(at, 1);
        else if (what === 'add') bytes.splice(at, 0, byte);
        else bytes = bytes.slice(0, at);
      }
      return Buffer.from(bytes);
    });
