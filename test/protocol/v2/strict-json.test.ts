import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { concatBytes, utf8 } from '../../../src/protocol/bytes.ts';
import { parseStrictJson } from '../../../src/protocol/v2/strict-json.ts';

const parse = (text: string) => parseStrictJson(utf8(text));

describe('is refused:', () => {
  test.each([
    ['a name twice', '{"a":1,"a":1}'],
    ['a name twice, once with an escape', '{"a":1,"\\u0061":2}'],
    ['a name twice in an inner object', '{"b":[{"a":1,"c":{},"a":2}]}'],
    ['a name twice, with white space before the colon', '{"a" :1,"a"\n:2}'],
    ['NUL in a text', '{"a":"\\u0000"}'],
    ['NUL in a name', '{"\\u0000":1}'],
    ['a lone surrogate in a text', '["\\ud800"]'],
    ['a lone surrogate in a name', '{"\\udfff":1}'],
    ['surrogates in the wrong order', '["\\udc00\\ud800"]'],
    ['a byte order mark', '\ufeff{}'],
    ['something behind the value', '{} {}'],
    ['a comma at the end', '{"a":1,}'],
    ['no text', ''],
    ['a number beyond all numbers', '{"a":1e400}'],
    ['an integer that readers round', '{"a":9007199254740993}'],
    ['a negative zero', '[-0]'],
    ['a fraction', '[1.5]'],
    ['an integer with an exponent', '[1e3]'],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['20,000 levels', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ])('%s', (_what, text) => {
    expect(parse(text)).toBeUndefined();
  });

  test.each([
    ['a byte that no UTF-8 has', 0xff],
    ['an overlong slash', 0xc0, 0xaf],
    ['a surrogate in UTF-8', 0xed, 0xa0, 0x80],
    ['UTF-8 that is cut short', 0xc3],
  ])('%s', (_what, ...bytes) => {
    expect(parseStrictJson(concatBytes(utf8('{"a":"'), Uint8Array.from(bytes), utf8('"}')))).toBeUndefined();
  });
});

test('the same name in different objects, brackets in texts, escapes and padding are accepted', () => {
  expect(parse(' {"a":{"a":[{"a":"}"},{"a":"{\\"a\\":1,"}]},"b":"\\\\","c":"\\ud83d\\ude00"}   ')).toEqual({
    a: { a: [{ a: '}' }, { a: '{"a":1,' }] },
    b: '\\',
    c: '😀',
  });
  expect(parse(`${'['.repeat(64)}${']'.repeat(64)}`)).toBeDefined();
  expect(parse('[0,-1,9007199254740991,"1e400",true,null]')).toEqual([
    ...[0, -1, 9007199254740991],
    ...['1e400', true, null],
  ]);
});

test('every value without NUL is parsed from its JSON, in any layout', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((each) => !each.includes('\0'));
  const value = fc.jsonValue({ maxDepth: 5 }).filter((each) => !JSON.stringify(each).includes('\\u0000'));
  fc.assert(
    fc.property(fc.dictionary(text, value), fc.nat(3), (object, indent) => {
      const integers = (_name: string, each: unknown) =>
        typeof each === 'number' ? Math.trunc(each % 1e9) : each;
      const json = JSON.stringify(object, integers, indent);
      if (/\\ud[89a-f]/.test(json)) return;
      expect(parse(json)).toEqual(JSON.parse(json));
    }),
  );
});

test('no object with a repeated name is parsed, wherever the two are', () => {
  const name = fc.stringMatching(/^[a-z]{1,3}$/);
  fc.assert(
    fc.property(name, fc.array(name, { maxLength: 5 }), fc.nat(5), fc.nat(5), (twice, others, one, two) => {
      const names = [...new Set(others.filter((other) => other !== twice))];
      names.splice(Math.min(one, names.length), 0, twice);
      names.splice(Math.min(two, names.length), 0, twice);
      expect(parse(`{${names.map((each) => `"${each}":{"${each}":1}`).join()}}`)).toBeUndefined();
    }),
  );
});
