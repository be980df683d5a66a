import { describe, expect, test } from 'vitest';
import { holdsTextByIndex } from '../../src/services/search.ts';

describe('a search asks the index of trigrams', () => {
  test.each(['abc', 'ÄÖÜ', '203.0.113.7', '.7', '10.', 'order 17', '  x', '%ab_', '日本語', "o'n"])(
    'for %j',
    (q) => {
      expect(holdsTextByIndex('text', q)).not.toBeNull();
    },
  );

  test.each(['', 'a', 'ab', '日本', '%', '___', '\\', '--', '...', '💥💥💥', undefined])(
    'not for %j',
    (q) => {
      expect(holdsTextByIndex('text', q)).toBeNull();
    },
  );
});
