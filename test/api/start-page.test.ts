import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { RestEnv } from '../../src/rest/adapter.ts';
import { startPage } from '../../src/rest/start-page.ts';
import { useServer } from '../setup/use-world.ts';

const server = useServer();

const open = (path: string, accept: string) => fetch(server.baseUrl + path, { headers: { accept } });
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Of a build without the dashboard; with it, a browser is led there (test/dashboard). */
const openStartPage = async () =>
  new Hono<RestEnv>().get('/', startPage(false)).request('/', { headers: { accept: browser } });

test('a browser at / gets a page without dead links', async () => {
  const answer = await openStartPage();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const html = await answer.text();
  const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);
  expect(links).toEqual(expect.arrayContaining(['graphql', 'docs', 'health/ready']));
  for (const link of links) {
    // Relative, so that the page works under any path of a reverse proxy.
    expect(link).not.toMatch(/^(\/|https?:)/);
    expect((await open(`/${link}`, browser)).status, link).toBe(200);
  }
});

test('the page loads only from this service and has no script', async () => {
  const answer = await openStartPage();
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await answer.text()).not.toContain('<script');
});

test('a program at / gets the same 404 as at any unknown path', async () => {
  const answer = await open('/', 'application/json');
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ success: false, code: 'ROUTE_NOT_FOUND' });
});

test("the comments of the console's first query fit into a window of 1,200 pixels", async () => {
  const script = await (await open('/graphql/graphiql.js', '*/*')).text();
  const [, query = ''] = /"defaultQuery":("(?:[^"\\]|\\.)*")/.exec(script) ?? [];
  const comments = String(JSON.parse(query))
    .split('\n')
    .filter((line) => line.startsWith('#'));
  expect(comments.length).toBeGreaterThan(5);
  for (const line of comments) expect(line.length, line).toBeLessThanOrEqual(45);
});
