import { encodeBase64Url } from '../../../protocol/base64.ts';
import { deviceHash } from '../../../protocol/v2/device-hash.ts';
import { deviceRequestText } from '../../../protocol/v2/device-request.ts';
import { appId } from '../exchange.ts';
import { fixedBytes } from '../material.ts';

const nonce = encodeBase64Url(fixedBytes('device request nonce', 16));

/** SPEC §14.6: the text that a device without a network shows. */
export function deviceRequestVectors() {
  const hwids = [
    ['a hwid in ASCII', 'device-1'],
    ['a hwid with a letter of two bytes', 'Gerät 2'],
    ['a hwid of one character above U+FFFF', '\u{1f511}'],
  ] as const;
  const accept = hwids.map(([why, hwid]) => {
    const dev = deviceHash(appId, hwid);
    return { why, hwid, dev, nonce, text: deviceRequestText({ appId, device: dev, nonce }) };
  });
  const text = accept[0]?.text ?? '';
  const last = text.charCodeAt(text.length - 1);
  return {
    accept,
    reject: [
      { why: 'no text', text: '' },
      { why: 'no prefix', text: text.slice(5) },
      { why: 'the prefix in lower case', text: text.replace('LKQ2', 'lkq2') },
      { why: 'another version', text: text.replace('LKQ2', 'LKQ1') },
      { why: 'a character is missing', text: text.slice(0, -1) },
      { why: 'a character too many', text: `${text}A` },
      { why: 'a line feed at the end', text: `${text}\n` },
      { why: 'padding', text: `${text}==` },
      { why: 'unused bits that are set', text: `${text.slice(0, -1)}${String.fromCharCode(last + 1)}` },
    ],
  };
}
