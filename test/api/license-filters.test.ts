import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { newId } from '../../src/lib/ids.ts';
import type { LicenseFilter } from '../graphql/generated/graphql.ts';
import { insertLicenses, type LicenseRow } from '../graphql/rows.ts';
import { createGraphqlWorld } from '../graphql/support.ts';
import { forFile, forTest, useServer } from '../setup/use-world.ts';
import { expectFailure, expectSuccess, noLimits } from './support.ts';

/** A list of licenses has the same filters in REST and in GraphQL. */

const server = useServer({ env: noLimits });
const world = forFile(() => createGraphqlWorld(server));
const application = forTest(() => world.createApplication());

const listed = z.object({ licenses: z.array(z.object({ id: z.string() })) });
const ask = (query: string) => world.client.get(`/api/v1/apps/${application.id}/licenses?${query}`);
const idsByRest = async (query: string) =>
  expectSuccess(await ask(query), 200, listed).licenses.map(({ id }) => id);

const connection = z.object({
  application: z.object({
    licenses: z.object({
      totalCount: z.number(),
      edges: z.array(z.object({ node: z.object({ id: z.string() }) })),
    }),
  }),
});
async function idsByGraphql(filter: LicenseFilter) {
  const answer = await world.graphql.ask(
    `query ($id: ID!, $filter: LicenseFilter) { application(id: $id) {
      licenses(first: 200, filter: $filter) { totalCount edges { node { id } } } } }`,
    { id: application.id, filter },
  );
  expect(answer.errors).toEqual([]);
  const { totalCount, edges } = connection.parse(answer.data).application.licenses;
  expect(totalCount).toBe(edges.length);
  return edges.map(({ node }) => node.id);
}

/** Stores licenses, and answers which of them each transport finds: their indexes. */
async function found(rows: readonly LicenseRow[]) {
  const blank = { tags: [], metadata: null, policy_id: null, suspended_at: null };
  const stored = await insertLicenses(
    server,
    application.id,
    rows.map((row) => ({ ...blank, ...row })),
  );
  const indexesOf = (ids: readonly string[]) =>
    ids
      .map((id) => stored.findIndex((row) => 'id' in row && row.id === id))
      .sort((one, other) => one - other);
  return async (query: string, filter: LicenseFilter) => {
    const byRest = indexesOf(await idsByRest(query));
    expect(indexesOf(await idsByGraphql(filter)), query).toEqual(byRest);
    return byRest;
  };
}

test('by status, one or several', async () => {
  const [past, before] = ['2026-01-01T00:00:00Z', '2025-01-01T00:00:00Z'];
  const find = await found([
    { status: 'unused' },
    { status: 'active', activated_at: before },
    { status: 'active', activated_at: before, expires_at: past },
    { status: 'banned' },
    { status: 'active', activated_at: before, suspended_at: past },
  ]);
  expect(await find('status=unused', { statuses: ['unused'] })).toEqual([0]);
  expect(await find('status=suspended', { statuses: ['suspended'] })).toEqual([4]);
  expect(await find('status=expired,banned', { statuses: ['expired', 'banned'] })).toEqual([2, 3]);
});

test('by tier, expiry and device', async () => {
  const ends = (expires_at: string) => ({ status: 'active' as const, activated_at: expires_at, expires_at });
  const find = await found([
    { subscription_tier: 1, ...ends('2030-01-01T00:00:00Z'), hwid: 'device' },
    { subscription_tier: 2, ...ends('2031-01-01T00:00:00Z') },
    { subscription_tier: 3 },
  ]);
  expect(await find('tier=2', { subscriptionTiers: [2] })).toEqual([1]);
  expect(await find('tier=1,3', { subscriptionTiers: [1, 3] })).toEqual([0, 2]);
  expect(await find('expiresFrom=2031-01-01T00:00:00Z', { expiresFrom: '2031-01-01T00:00:00Z' })).toEqual([
    1,
  ]);
  expect(await find('expiresBefore=2031-01-01T00:00:00Z', { expiresBefore: '2031-01-01T00:00:00Z' })).toEqual(
    [0],
  );
  expect(await find('hasHwid=true', { hasHwid: true })).toEqual([0]);
  expect(await find('hasHwid=false', { hasHwid: false })).toEqual([1, 2]);
});

test('by device, also one that is known only by its hash', async () => {
  const find = await found([{ device_hash: 'h'.repeat(43) }, { device_hash: null }]);
  expect(await find('hasHwid=true', { hasHwid: true })).toEqual([0]);
  expect(await find('hasHwid=false', { hasHwid: false })).toEqual([1]);
});

test('by tag and by policy', async () => {
  const [policy, other] = [newId(), newId()];
  const find = await found([
    { tags: ['reseller', 'eu'], policy_id: policy },
    { tags: ['Reseller'], policy_id: other },
    { tags: ['eu'] },
  ]);
  expect(await find('tag=reseller', { tag: 'reseller' })).toEqual([0]);
  expect(await find('tag=eu', { tag: 'eu' })).toEqual([0, 2]);
  expect(await find('tag=e', { tag: 'e' })).toEqual([]);
  expect(await find(`policyId=${policy}`, { policyId: policy })).toEqual([0]);
  expect(await find(`policyId=${policy}&tag=Reseller`, { policyId: policy, tag: 'Reseller' })).toEqual([]);
  expect(await find(`policyId=${newId()}`, { policyId: newId() })).toEqual([]);
});

test('by values of metadata, of clients or private, whatever their type', async () => {
  const find = await found([
    { metadata: { client: { seats: 5 }, private: {} } },
    { metadata: { client: {}, private: { seats: '5' } } },
    { metadata: { client: { seats: 50, trial: true }, private: { order: 'a]b' } } },
    { metadata: { client: { trial: 'true' }, private: { seats: 5, order: 'x' } } },
    { metadata: { client: { seats: { deep: '5' } }, private: { 'a]b': '5' } } },
    {},
  ]);
  const by = (name: string, value: string) =>
    find(`metadata[${encodeURIComponent(name)}]=${encodeURIComponent(value)}`, {
      metadata: [{ name, value }],
    });
  expect(await by('seats', '5')).toEqual([0, 1, 3]);
  expect(await by('seats', '05')).toEqual([]);
  expect(await by('seats', '5.0')).toEqual([]);
  expect(await by('trial', 'true')).toEqual([2, 3]);
  expect(await by('order', 'a]b')).toEqual([2]);
  expect(await by('a]b', '5')).toEqual([4]);
  // A name that objects of JavaScript have must not be dropped: a filter without conditions matches everything.
  expect(await by('__proto__', '5')).toEqual([]);
  expect(await by('toString', '5')).toEqual([]);
  const both = [
    { name: 'seats', value: '5' },
    { name: 'order', value: 'x' },
  ];
  expect(await find('metadata[seats]=5&metadata[order]=x', { metadata: both })).toEqual([3]);
});

test('pages go on within the filter', async () => {
  await found([{ tags: ['a'] }, { tags: ['b'] }, { tags: ['a'] }, { tags: ['a'] }]);
  const all = await idsByRest('tag=a');
  const page = z.object({ ...listed.shape, nextCursor: z.string() });
  const first = expectSuccess(await ask('tag=a&limit=2'), 200, page);
  expect(first.licenses.map(({ id }) => id)).toEqual(all.slice(0, 2));
  expect(await idsByRest(`tag=a&limit=2&cursor=${first.nextCursor}`)).toEqual(all.slice(2));
});

describe('what is refused names its place', () => {
  const many = Array.from({ length: 11 }, (_, index) => `metadata[name${index}]=1`).join('&');
  test.each([
    ['status=lost', 'status'],
    ['status=', 'status'],
    ['tier=x', 'tier'],
    ['tier=99999999999', 'tier'],
    ['tier=2147483648', 'tier'],
    ['expiresFrom=yesterday', 'expiresFrom'],
    ['expiresBefore=2027-01-01', 'expiresBefore'],
    ['hasHwid=1', 'hasHwid'],
    ['tag=', 'tag'],
    [`tag=${'a'.repeat(65)}`, 'tag'],
    ['tag=a&tag=b', 'tag'],
    ['policyId=garbage', 'policyId'],
    ['metadata=5', 'metadata'],
    ['metadata[]=5', 'metadata[]'],
    ['metadata[a]=1&metadata[a]=2', 'metadata[a]'],
    [`metadata[a]=${'a'.repeat(501)}`, 'metadata[a]'],
    [`metadata[${'a'.repeat(65)}]=1`, `metadata[${'a'.repeat(65)}]`],
    ['metadata[a=1', 'metadata[a'],
    [many, 'metadata'],
    ['statuses=unused', 'statuses'],
    ['subscriptionTiers=1', 'subscriptionTiers'],
    ['tags=a', 'tags'],
    ['limit=0', 'limit'],
    ['toString=1', 'toString'],
  ])('%s', async (query, name) => {
    const { issues = [] } = expectFailure(await ask(query), 400, 'VALIDATION_FAILED');
    expect([...new Set(issues.map(({ path }) => path[0]))]).toEqual([name]);
  });
});
