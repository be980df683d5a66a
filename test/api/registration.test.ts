import { describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { useServer } from '../setup/use-world.ts';
import { expectFailure, expectIssue } from './support.ts';

/** REGISTRATION=closed: only an operator can create accounts, over either transport. */

const server = useServer({ env: { REGISTRATION: 'closed', RATE_LIMITS: 'auth=4' } });

const input = { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' };
const mutation = 'mutation ($input: RegisterInput!) { register(input: $input) { developer { id } } }';
const visitor = () => new ApiClient(server.baseUrl);
const rest = (client: ApiClient, body: object = input) => client.post('/api/v1/auth/register', body);
const graphql = (client: ApiClient, body: object = input) =>
  client.post('/graphql', { query: mutation, variables: { input: body } });
const developers = () => server.deps.services.database.prisma.developer.count();

describe('if registration is closed', () => {
  test('REST refuses with advice and creates nothing', async () => {
    const answer = await rest(visitor());
    const { error } = expectFailure(answer, 403, 'REGISTRATION_CLOSED');
    expect(error).toMatch(/closed.*Ask the operator of this service/);
    expect(cookieOf(answer)).toBeUndefined();
    expect(await developers()).toBe(0);
  });

  test('GraphQL refuses with the same message', async () => {
    const said = expectFailure(await rest(visitor()), 403, 'REGISTRATION_CLOSED').error;
    const answer = await graphql(visitor());
    expect(answer.body).toMatchObject({
      data: { register: null },
      errors: [{ message: said, extensions: { code: 'REGISTRATION_CLOSED' } }],
    });
    expect(cookieOf(answer)).toBeUndefined();
    expect(await developers()).toBe(0);
  });

  test('both count towards the auth limit', async () => {
    const client = visitor();
    for (const ask of [rest, graphql]) {
      for (let count = 0; count < 2; count += 1) {
        expect(JSON.stringify((await ask(client)).body)).toContain('REGISTRATION_CLOSED');
      }
    }
    expectFailure(await rest(client), 429, 'RATE_LIMITED');
    expect(JSON.stringify((await graphql(client)).body)).toContain('RATE_LIMITED');
  });

  test('invalid input is still reported', async () => {
    expectIssue(await rest(visitor(), { ...input, password: 'short' }), 'password');
  });

  test('an address with an account is refused like any other', async () => {
    const { prisma } = server.deps.services.database;
    const before = await rest(visitor());
    const passwordHash = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA';
    const row = { email: input.email, emailNormalized: input.email, name: 'Ada', passwordHash };
    const { id } = await prisma.developer.create({ data: { id: newId(), ...row } });
    const after = await rest(visitor());
    await prisma.developer.delete({ where: { id } });
    expect(after.status).toBe(403);
    expect(after.body).toEqual(before.body);
  });
});
