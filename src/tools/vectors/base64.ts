import { bytesToHex } from '@noble/hashes/utils.js';
import { encodeBase64 } from '../../protocol/base64.ts';
import { fixedBytes } from './material.ts';

/** SPEC §1: each value has exactly one encoding. */
export function base64Vectors() {
  const lengths = [0, 1, 2, 3, 12, 16, 32, 33];
  const values = lengths.map((length) => fixedBytes('base64', length));
  values.push(new Uint8Array([0xfb, 0xef, 0xbe]), new Uint8Array([0xff, 0xff, 0xff]));
  return {
    accept: values.map((bytes) => ({ text: encodeBase64(bytes), hex: bytesToHex(bytes) })),
    reject: [
      { why: 'no padding', text: 'AA' },
      { why: 'too little padding', text: 'AA=' },
      { why: 'too much padding', text: 'AAAA=' },
      { why: 'padding alone', text: '====' },
      { why: 'padding in the middle', text: 'AA==AAAA' },
      { why: 'three padding characters', text: 'A===' },
      { why: 'trailing bits not zero, two bytes missing', text: 'AB==' },
      { why: 'trailing bits not zero, one byte missing', text: 'AAB=' },
      { why: 'URL-safe alphabet, minus', text: '--__' },
      { why: 'URL-safe alphabet, underscore', text: 'A_AA' },
      { why: 'white space inside', text: 'AA AA' },
      { why: 'white space inside, length a multiple of four', text: 'AA\nAAAA=' },
      { why: 'line break at the end', text: 'AAAA\n' },
      { why: 'white space around', text: ' AAAAAA ' },
      { why: 'NUL', text: 'AAA\0' },
      { why: 'full-width letter', text: 'AAA\uff21' },
      { why: 'one character', text: 'A' },
    ],
  };
}
