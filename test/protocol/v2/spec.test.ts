import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { registerMembers } from '../../../src/protocol/messages.ts';
import {
  answerCodes,
  callAnswers,
  callErrorStatus,
  callHead,
  callMembers,
} from '../../../src/protocol/v2/messages.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const spec = read('src/protocol/v2/SPEC.md');
const vectors = read('test/vectors/sealed-v2.json');

/** A numbered section, with its heading. */
function section(number: number): string {
  return spec.split(/^(?=## )/m).find((text) => text.startsWith(`## ${number}. `)) ?? expect.fail();
}

describe('SPEC.md', () => {
  it('has the bytes of the vectors in its example', () => {
    const runs = [...section(18).matchAll(/\b(?:[0-9a-f]{2}){7,}\b/g)].map(([run]) => run);
    expect(runs.length).toBeGreaterThan(30);
    for (const run of runs) expect(vectors.includes(run), run).toBe(true);
  });

  it('has the texts of the vectors in its example', () => {
    const texts = [...section(18).matchAll(/^\{.*\}$/gm)].map(([text]) => text.replace('ü', '\\u00fc'));
    expect(texts).toHaveLength(2);
    for (const text of texts)
      expect(vectors.includes(JSON.stringify(text).replace('\\\\u', '\\u'))).toBe(true);
  });

  it('lists the same keys of small order as version 1', () => {
    const listed = (text: string) => [...text.matchAll(/^[0-9a-f]{64}\b/gm)].map(([key]) => key);
    expect(listed(section(13))).toEqual(listed(read('src/protocol/SPEC.md')));
    expect(listed(section(13))).toHaveLength(14);
  });

  it('describes every member of every request', () => {
    const described = section(5);
    const members = Object.values(callMembers).flatMap((members) => Object.keys(members.shape));
    for (const name of [...members, ...Object.keys(callHead.shape)]) {
      expect(described.includes(`| \`${name}\``), name).toBe(true);
    }
  });

  it('describes every member of every answer, and the order of the codes of every call', () => {
    for (const [call, answer] of Object.entries(callAnswers)) {
      for (const { shape } of answer.options) {
        for (const name of Object.keys(shape)) {
          expect(section(7).includes(`\`${name}\``), `${call}: ${name}`).toBe(true);
        }
      }
      expect(section(11)).toMatch(new RegExp(`^\\| ${call.replace('.', '\\.')} +\\| `, 'm'));
    }
  });

  it('has the expression for addresses with which the service checks them', () => {
    const { email } = z.toJSONSchema(registerMembers).properties ?? expect.fail();
    const [, expression] = section(5).match(/^(\^.*@.*\$)$/m) ?? expect.fail();
    expect(email).toMatchObject({ pattern: expression, maxLength: 254 });
    // Of the expression itself, nothing depends on the language.
    expect(expression).not.toMatch(/\(\?[^:]|\\[^.-]/);
  });

  it('describes every code, and the HTTP statuses of unsigned ones', () => {
    for (const code of answerCodes) expect(section(11)).toMatch(new RegExp(`^\\| ${code} +\\|`, 'm'));
    for (const [code, status] of Object.entries(callErrorStatus)) {
      expect(section(12)).toMatch(new RegExp(`^\\| ${code} +\\| ${status} +\\|`, 'm'));
    }
  });

  it('has a constant for each header of a token', () => {
    const headers = [...section(14).matchAll(/^(\{"alg".*\})\n(\S+)$/gm)];
    expect(headers).toHaveLength(2);
    for (const [, header = '', encoded] of headers) {
      expect(Buffer.from(header).toString('base64url')).toBe(encoded);
    }
  });
});
