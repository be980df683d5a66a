export const workersNames = {
  one: 'one worker: sealed validate',
  two: 'two workers: sealed validate',
} as const;
