import { expect } from 'vitest';
import { z } from 'zod';
import type { ApiAnswer } from './api-client.ts';

const refusal = z.strictObject({
  success: z.literal(false),
  error: z.string().min(1),
  code: z.string(),
  issues: z.array(z.unknown()).optional(),
});

/** Checks that a response is exactly a plaintext failure (SPEC §11), and returns its text. */
export function expectRefusal(answer: ApiAnswer, status: number, code: string): string {
  const { error, issues, ...body } = refusal.parse(answer.body);
  expect({ status: answer.status, ...body }).toEqual({ status, success: false, code });
  expect(issues !== undefined).toBe(code === 'VALIDATION_FAILED');
  return error;
}
