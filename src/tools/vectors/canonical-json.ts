import { bytesToHex } from '@noble/hashes/utils.js';
import { utf8 } from '../../protocol/bytes.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';

const accepted: readonly { why: string; json: string }[] = [
  { why: 'empty object', json: ' { } ' },
  { why: 'empty array', json: '[ ]' },
  { why: 'literals', json: '[null, true, false]' },
  { why: 'members are sorted at every depth', json: '{"b":{"d":1,"c":2},"a":[{"z":0,"y":0}]}' },
  { why: 'an array keeps its order', json: '[3,1,2]' },
  { why: 'names sort as text, also where they are digits', json: '{"10":1,"9":2,"1":3}' },
  { why: 'upper case before lower case, a prefix before what it begins', json: '{"ab":1,"a":2,"B":3,"":4}' },
  {
    why: 'names sort by UTF-16 code unit: a supplementary character before U+FB33, which sorting by code point reverses',
    json: '{"\\ufb33":1,"\\ud83d\\ude00":2,"\\u20ac":3,"\\u0080":4}',
  },
  { why: 'the name __proto__ is a name', json: '{"b":1,"__proto__":2}' },
  { why: 'short escapes', json: '"\\u0008\\u0009\\u000a\\u000c\\u000d\\u0022\\u005c"' },
  { why: 'other control characters in lower-case hexadecimal', json: '"\\u0000\\u001F\\u000b"' },
  { why: 'nothing else is escaped', json: '"\\u002f\\u007f\\u0080\\u2028\\u2029<>&\\u00e9\\ud83d\\ude00"' },
  { why: 'no normalisation: U+00E9 stays apart from e and U+0301', json: '["\\u00e9","e\\u0301"]' },
  { why: 'integers', json: '[0,-0,1.0,100,-1,9007199254740991,9007199254740992]' },
  { why: 'exponents', json: '[1E2,1e20,1e21,1e-6,1e-7,1e23,123e-9]' },
  { why: 'extremes', json: '[5e-324,2.2250738585072014e-308,1.7976931348623157e308]' },
  { why: 'shortest digits', json: '[333333333.33333329,0.1,4.50,295147905179352825856,0.000001]' },
  {
    why: 'a sealed answer',
    json: '{"success":true,"v":1,"timestamp":1760000000,"code":"OK","message":"Lizenz g\\u00fcltig","expiresAt":null}',
  },
];

/** SPEC §2: RFC 8785. */
export function canonicalJsonVectors() {
  return {
    accept: accepted.map(({ why, json }) => {
      const canonical = canonicalJson(JSON.parse(json));
      return { why, json, canonical, canonicalHex: bytesToHex(utf8(canonical)) };
    }),
    reject: [
      { why: 'lone high surrogate', json: '"\\ud800"' },
      { why: 'lone low surrogate', json: '"a\\udc00b"' },
      { why: 'surrogates in the wrong order', json: '"\\ude00\\ud83d"' },
      { why: 'lone surrogate in a name', json: '{"\\ud800":1}' },
      { why: 'number beyond IEEE 754', json: '1e999' },
      { why: 'number beyond IEEE 754 in an array', json: '[-1e400]' },
    ],
  };
}
