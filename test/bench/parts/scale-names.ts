const list = (what: string, request: string, atMost: number) => ({
  what,
  many: `1,000,000: ${request}`,
  few: `1,000: ${request}`,
  atMost,
});

export const scaleNames = {
  validate: '1,000,000: sealed validate, keys at random',
  bare: 'bare program: sealed validate of 1,000,000, keys at random',
  lists: [
    list('a page of licenses', '50 licenses', 1.5),
    list('a page of users', '50 users', 1.5),
    list('a page of the log', '50 log entries', 1.5),
    list('a search of licenses', 'search of licenses', 3),
    list('a search of users', 'search of users', 3),
    list('a search of the log', 'search of log entries', 3),
  ],
  overview: '1,000,000: metrics overview',
  licenses: 'licenses in the database',
  logRows: 'log entries in the database',
} as const;
