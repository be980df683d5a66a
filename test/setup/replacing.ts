/** Test files that replace modules, and so need their own process. */
export const replacing = [
  'test/attack/same-work.test.ts',
  'test/crypto/password.test.ts',
  'test/services/security-log-writer.test.ts',
];
