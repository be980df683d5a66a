/** @module-tag slow */
import { expect, test } from 'vitest';
import { ApiClient } from '../setup/api-client.ts';
import { useWorld } from '../setup/use-world.ts';
import { expectFailure } from './support.ts';

const { server, world } = useWorld();

test('a network that fills the password queue does not prevent logins of others', async () => {
  const visitor = new ApiClient(server.baseUrl);
  const { email, password } = world.developer;
  let isFull = () => {};
  const full = new Promise<void>((resolve) => {
    isFull = resolve;
  });
  // Each from a separate /64 and /56, so within every limit.
  const flood = Array.from({ length: 200 }, async (_, network) => {
    const client = visitor.with({ ip: `2001:db8:77:${(network << 8).toString(16)}::1` });
    const answer = await client.post('/api/v1/auth/login', {
      email: 'eve@example.com',
      password: 'wrong password',
    });
    if (answer.status === 503) isFull();
    return answer;
  });
  await full;
  const mine = await visitor.with({ ip: '203.0.113.7' }).post('/api/v1/auth/login', { email, password });
  expect(mine.status, JSON.stringify(mine.body)).toBe(200);
  const answers = await Promise.all(flood);
  const refused = answers.filter(({ status }) => status === 503);
  for (const answer of refused) expectFailure(answer, 503, 'UNAVAILABLE');
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(200 - refused.length);
});
