/** Test files that replace modules or the environment, and so need their own process. */
export const replacing = [
  'test/attack/same-work.test.ts',
  'test/crypto/password.test.ts',
  'test/sdk/v2/state-folder.test.ts',
  'test/services/security-log-writer.test.ts',
  'test/webhooks/send.test.ts',
];
