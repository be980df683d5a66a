import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { variableNames } from '../../src/config.ts';
import { root } from '../setup/process.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { parsePage } from '../telemetry/page.ts';

/** What an operator copies from `deploy/` names things of the service: variables, metrics, files. */

const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

describe('metrics that alerts and the dashboard ask for', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  /** Of a supervisor, and of a service with Redis: the test server is neither. */
  const elsewhere = ['latchkey_workers_lost_total', 'latchkey_redis_up'];

  test.each(['deploy/prometheus/alerts.yaml', 'deploy/grafana/latchkey.json'])(
    '%s: the service has them',
    async (file) => {
      const { types } = parsePage(await server.deps.telemetry.page());
      const known = new Set([...types.keys(), ...elsewhere]);
      const asked = [...read(file).matchAll(/\b(?:latchkey|nodejs|process)_\w+/g)].map(([name]) => name);
      expect(asked.length).toBeGreaterThan(8);
      for (const name of asked) {
        const family = name.replace(/_(bucket|sum|count)$/, '');
        expect(known.has(name) || known.has(family), name).toBe(true);
      }
    },
  );
});

test.each(['latchkey_workers_lost_total', 'latchkey_redis_up'])('%s is a metric of the service', (name) => {
  const files = ['src/supervisor', 'src/services'].flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => read(path.join(folder, file))),
  );
  expect(files.some((text) => text.includes(`'${name}'`))).toBe(true);
});

describe('variables', () => {
  const ownOfPostgresql = /^POSTGRES_/;
  const settings = {
    'deploy/Dockerfile': /^(?:ENV|\s{4})\s*([A-Z_]+)=/gm,
    'deploy/compose.yaml': /^ {6}([A-Z_]+):/gm,
    'deploy/compose.env.example': /^#?([A-Z_]+)=/gm,
    'deploy/systemd/latchkey.env': /^#?([A-Z_]+)=/gm,
    'deploy/systemd/three-machines.env': /^#?([A-Z_]+)=/gm,
    'deploy/systemd/latchkey.service': /^Environment=([A-Z_]+)=/gm,
    'deploy/systemd/latchkey-migrate.service': /^(?:Environment=|# {3})([A-Z_]+)=/gm,
  };
  test.each(Object.entries(settings))('%s sets what the service reads', (file, pattern) => {
    const names = [...read(file).matchAll(pattern)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names.filter((each) => !ownOfPostgresql.test(each)))
      expect(variableNames).toContain(name);
  });
});

test('the image is made of files that are there, or that the build makes', () => {
  const built = ['node_modules', 'dist'];
  const copied = [...read('deploy/Dockerfile').matchAll(/^COPY (?:--from=\w+ )?(.+) \S+$/gm)]
    .flatMap(([, sources = '']) => sources.split(' '))
    .map((source) => source.replace(/^\/app\//, ''));
  expect(copied).toContain('package-lock.json');
  for (const source of copied.filter((each) => !built.includes(each)))
    expect(existsSync(path.join(root, source)), source).toBe(true);
});
