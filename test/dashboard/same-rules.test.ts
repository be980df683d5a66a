import { expect, test } from 'vitest';
import { defaultTexts } from '../../src/dashboard/screens/settings/messages.ts';
import { defaultMask, keyOf, maskProblem, randomBits } from '../../src/dashboard/vault/private-keys.ts';
import { defaultMessages } from '../../src/services/application/messages.ts';
import * as service from '../../src/services/license/mask.ts';

/** The dashboard shares no code with the service. What both must have in common is compared here. */

test("the dashboard's default messages are the service's", () => {
  expect(defaultTexts).toEqual(defaultMessages);
});

test('both have the same default mask', () => {
  expect(defaultMask).toBe(service.defaultMask);
});

test.each([
  'XXXXX-XXXXX',
  'LAB-XXXXXXXX',
  'XXXXXXX',
  '',
  'X X',
  'ÄXXXXXXXX',
  'X'.repeat(128),
  'X'.repeat(129),
])('both accept or refuse the mask %j', (mask) => {
  expect(maskProblem(mask) === null).toBe(service.licenseMask.safeParse(mask).success);
});

test('both warn below 64 random bits', () => {
  for (const mask of ['XXXXXXXX', 'X'.repeat(12), 'X'.repeat(13), service.defaultMask]) {
    expect(randomBits(mask) < 64).toBe(service.maskWarning(mask) !== null);
  }
});

test('keys from the browser look like those of the service', () => {
  const letters = /^[23456789A-HJ-NP-Z]{5}(-[23456789A-HJ-NP-Z]{5}){4}$/;
  const keys = Array.from({ length: 500 }, () => keyOf(defaultMask));
  for (const key of [...keys, ...service.mintKeys(service.defaultMask, 500)]) expect(key).toMatch(letters);
  expect(new Set(keys).size).toBe(500);
});
