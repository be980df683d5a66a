import { bytesToHex } from '@noble/hashes/utils.js';
import { concatBytes, utf8 } from '../../../protocol/bytes.ts';

const accepted: readonly { readonly why: string; readonly json: string }[] = [
  { why: 'white space, and padding', json: ' \t\r\n{ "a" : [ ] }    ' },
  { why: 'the same name in different objects', json: '{"a":{"a":[{"a":1},{"a":2}]}}' },
  { why: 'brackets, quotes and commas in texts', json: '{"a":"}{\\"a\\":1,","b":"\\\\"}' },
  { why: 'every short escape, and a slash', json: '["\\b\\t\\n\\f\\r\\"\\\\\\/"]' },
  { why: 'a surrogate pair as escapes', json: '["\\ud83d\\ude00"]' },
  { why: 'integers at the limits', json: '[0,-1,9007199254740991,-9007199254740991]' },
  { why: 'numbers in texts are texts', json: '["1e400","1.5"]' },
  { why: 'names that differ in case', json: '{"a":1,"A":2}' },
  { why: 'names that differ in normalisation', json: '{"\\u00e9":1,"e\\u0301":2}' },
  { why: 'the empty name', json: '{"":1}' },
  { why: '64 levels', json: `${'['.repeat(64)}${']'.repeat(64)}` },
];

const rejected: readonly { readonly why: string; readonly json: string | Uint8Array }[] = [
  { why: 'a name twice', json: '{"a":1,"a":1}' },
  { why: 'a name twice, once with an escape', json: '{"a":1,"\\u0061":2}' },
  { why: 'a name twice, with white space before the colon', json: '{"a" :1,"a"\n:2}' },
  { why: 'a name twice in an inner object', json: '{"b":[{"a":1,"c":{},"a":2}]}' },
  { why: 'a name twice, far apart', json: '{"a":{"b":1},"c":[{"d":"a"}],"a":1}' },
  { why: 'the name __proto__ twice', json: '{"__proto__":1,"__proto__":2}' },
  { why: 'NUL in a text', json: '{"a":"\\u0000"}' },
  { why: 'NUL in a name', json: '{"\\u0000":1}' },
  { why: 'a lone high surrogate in a text', json: '["\\ud800"]' },
  { why: 'a lone low surrogate in a name', json: '{"\\udfff":1}' },
  { why: 'surrogates in the wrong order', json: '["\\udc00\\ud800"]' },
  { why: 'a byte order mark', json: '\ufeff{}' },
  { why: 'no text', json: '' },
  { why: 'white space alone', json: '  ' },
  { why: 'a second value', json: '{} {}' },
  { why: 'a comma at the end of an object', json: '{"a":1,}' },
  { why: 'a comma at the end of an array', json: '[1,]' },
  { why: 'single quotes', json: "{'a':1}" },
  { why: 'a name without quotes', json: '{a:1}' },
  { why: 'a comment', json: '{}/* */' },
  { why: 'a line break in a text', json: '["\n"]' },
  { why: 'an unknown escape', json: '["\\x41"]' },
  { why: 'a white space that JSON does not have', json: '\u00a0{}' },
  { why: 'NaN', json: '[NaN]' },
  { why: 'Infinity', json: '[-Infinity]' },
  { why: 'a leading zero', json: '[01]' },
  { why: 'a leading plus', json: '[+1]' },
  { why: 'a negative zero', json: '[-0]' },
  { why: 'a fraction', json: '[1.5]' },
  { why: 'a fraction of zero', json: '[1.0]' },
  { why: 'an exponent', json: '[1e3]' },
  { why: 'a number beyond IEEE 754', json: '[1e400]' },
  { why: '2^53', json: '[9007199254740992]' },
  { why: '2^53 + 1, which readers round', json: '[9007199254740993]' },
  { why: 'a number of 400 digits', json: `[${'9'.repeat(400)}]` },
  { why: '65 levels', json: `${'['.repeat(65)}${']'.repeat(65)}` },
  { why: 'a byte that no UTF-8 has', json: inText(0xff) },
  { why: 'UTF-8 that is cut short', json: inText(0xc3) },
  { why: 'a continuation byte alone', json: inText(0x80) },
  { why: 'an overlong slash', json: inText(0xc0, 0xaf) },
  { why: 'an overlong NUL', json: inText(0xc0, 0x80) },
  { why: 'a surrogate in UTF-8', json: inText(0xed, 0xa0, 0x80) },
  { why: 'beyond U+10FFFF', json: inText(0xf4, 0x90, 0x80, 0x80) },
  { why: 'zero bytes behind the value', json: concatBytes(utf8('{}'), new Uint8Array(2)) },
];

function inText(...bytes: number[]): Uint8Array {
  return concatBytes(utf8('{"a":"'), Uint8Array.from(bytes), utf8('"}'));
}

/** SPEC §8. */
export function strictJsonVectors() {
  const hexOf = (json: string | Uint8Array) => bytesToHex(typeof json === 'string' ? utf8(json) : json);
  return {
    accept: accepted.map(({ why, json }) => ({ why, json, jsonHex: hexOf(json) })),
    reject: rejected.map(({ why, json }) => ({ why, jsonHex: hexOf(json) })),
  };
}
