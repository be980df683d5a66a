export const memoryNames = {
  requests: 'memory: requests between the first and the last minute',
  heapFirst: 'memory: heap after the first minute',
  heapLast: 'memory: heap after the last minute',
  residentFirst: 'memory: RSS after the first minute',
  residentLast: 'memory: RSS after the last minute',
  heapRatio: 'memory: heap, last against first',
  residentRatio: 'memory: RSS, last against first',
} as const;
