/** Test files that replace modules, which the files after them in a process would get as well. */
export const replacing = [
  'test/attack/same-work.test.ts',
  'test/crypto/password.test.ts',
  'test/services/security-log-writer.test.ts',
];
